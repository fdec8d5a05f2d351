import type {Pod} from '../../api/v1.js';
import type {PodUid} from '../../cri/index.js';
import type {RunningPod} from '../container/pleg.js';
import type {RuntimePodStatus} from '../container/pod-status.js';
import type {WorkerSummary} from '../pod-workers/pod-workers.js';

/** What a kubelet's HTTP server sees of it (KubeletView). */
export interface ServedKubelet {
  /** The pods that are wanted, each with its status. */
  pods(): readonly Pod[];
  /** All pods in the runtime, whoever made them. */
  runningPods(): readonly RunningPod[];
  /** What runs of a pod, as last read. Throws what the runtime answered when it couldn't be read. */
  runtimeStatus(uid: PodUid): RuntimePodStatus;
  /** Whether the pod takes room on the node. */
  isActive(uid: PodUid): boolean;
  /** What the workers of pods are at. */
  workers(): readonly WorkerSummary[];
  /** When the sync loop was last active, ms since the epoch. */
  readonly lastActiveAt: number;
}
