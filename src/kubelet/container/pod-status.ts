import type {
  ContainerId,
  ContainerState,
  ContainerStatus,
  PodSandboxId,
  PodSandboxStatus,
  PodUid,
} from '../../cri/index.js';

/** One container instance as the runtime reports it, with what kcri wrote into its labels and annotations. */
export interface RuntimeContainerStatus {
  readonly id: ContainerId;
  readonly sandboxId: PodSandboxId;
  /** The container's name in the Pod (label io.kubernetes.container.name). */
  readonly name: string;
  readonly state: ContainerState;
  /** io.kubernetes.container.restartCount. */
  readonly restartCount: number;
  /** io.kubernetes.container.hash, lower-case hex; empty when absent. */
  readonly hash: string;
  /** The whole CRI status. */
  readonly cri: ContainerStatus;
}

/** What runs of one pod (container.PodStatus of the kubelet). */
export interface RuntimePodStatus {
  readonly uid: PodUid;
  readonly name: string;
  readonly namespace: string;
  /** Highest attempt first, then newest, then by id. */
  readonly sandboxes: readonly PodSandboxStatus[];
  /** Newest first; every instance of every sandbox. */
  readonly containers: readonly RuntimeContainerStatus[];
  /** Of the newest sandbox, when it is ready; primary first. */
  readonly ips: readonly string[];
}

/** The newest instance of a container, or undefined (FindContainerStatusByName). */
export function findContainerStatus(
  status: RuntimePodStatus,
  name: string,
): RuntimeContainerStatus | undefined {
  return status.containers.find((container) => container.name === name);
}

/** Whether something of the pod runs: a container, or a sandbox that is ready. */
export function isLive({sandboxes, containers}: Pick<RuntimePodStatus, 'sandboxes' | 'containers'>): boolean {
  return (
    sandboxes.some(({state}) => state === 'SANDBOX_READY') ||
    containers.some(({state}) => state === 'CONTAINER_RUNNING')
  );
}
