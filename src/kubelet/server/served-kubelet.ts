import type {Pod} from '../../api/types/v1-pod.js';
import type {PodUid} from '../../cri/index.js';
import type {HealthCheck} from '../contract/node-manager.js';
import type {RunningPod} from '../contract/pleg.js';
import type {PodVolumeState} from '../contract/volumes/pod-volume-state.js';
import type {RuntimePodStatus} from '../contract/runtime-pod-status.js';
import type {WorkerSummary} from '../contract/pod-worker-summary.js';

/** Part of the kubelet that its HTTP servers use (server.go HostInterface). */
export interface ServedKubelet {
  /** Returns the desired pods with their statuses. */
  pods(): readonly Pod[];
  /** Returns all pods in the runtime, including those of other clients. */
  runningPods(): readonly RunningPod[];
  /** Returns the status of a pod in the runtime as of its last inspection. Throws the error if that failed. */
  runtimeStatus(uid: PodUid): RuntimePodStatus;
  /** Reports whether the pod uses resources of the node (filterOutInactivePods). */
  isActive(uid: PodUid): boolean;
  /** Returns the volumes that containers of the pod mount. */
  volumes(pod: Pod): readonly PodVolumeState[];
  /** Returns a summary of each pod worker. */
  workers(): readonly WorkerSummary[];
  /** Health checks of the managers of the node. */
  readonly healthChecks: readonly HealthCheck[];
  /** Time of the last activity of the sync loop, in ms since the epoch. */
  readonly lastActiveAt: number;
}
