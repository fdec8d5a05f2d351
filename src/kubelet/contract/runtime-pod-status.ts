import {findByName} from '../../base/by-name.js';
import type {
  ContainerId,
  ContainerState,
  ContainerStatus,
  PodSandboxId,
  PodSandboxStatus,
  PodUid,
} from '../../cri/index.js';

/** One container instance as the runtime reports it, with values from the labels and annotations that kcri set. */
export interface RuntimeContainerStatus {
  readonly id: ContainerId;
  readonly sandboxId: PodSandboxId;
  /** The container's name in the Pod (label io.kubernetes.container.name). */
  readonly name: string;
  readonly state: ContainerState;
  /** Value of io.kubernetes.container.restartCount. */
  readonly restartCount: number;
  /** Value of io.kubernetes.container.hash, lower-case hex; empty when absent. */
  readonly hash: string;
  /** Full CRI status. */
  readonly cri: ContainerStatus;
}

/** Sandboxes and containers of one pod in the runtime (kubecontainer.PodStatus). */
export interface RuntimePodStatus {
  readonly uid: PodUid;
  readonly name: string;
  readonly namespace: string;
  /** All sandboxes: highest attempt first, then newest, then by ID. */
  readonly sandboxes: readonly PodSandboxStatus[];
  /** All container instances of all sandboxes, newest first. */
  readonly containers: readonly RuntimeContainerStatus[];
  /** IPs of the newest sandbox, if it is ready; primary first. */
  readonly ips: readonly string[];
}

/** Returns the status of a pod of which the runtime has nothing. */
export function emptyPodStatus(uid: PodUid): RuntimePodStatus {
  return {uid, name: '', namespace: '', sandboxes: [], containers: [], ips: []};
}

/** Returns the newest instance of a container, or undefined (FindContainerStatusByName). */
export function findContainerStatus(
  status: RuntimePodStatus,
  name: string,
): RuntimeContainerStatus | undefined {
  return findByName(status.containers, name);
}

/** Reports whether the pod has a running container or a ready sandbox. */
export function isLive({sandboxes, containers}: Pick<RuntimePodStatus, 'sandboxes' | 'containers'>): boolean {
  return (
    sandboxes.some(({state}) => state === 'SANDBOX_READY') ||
    containers.some(({state}) => state === 'CONTAINER_RUNNING')
  );
}
