import type {Container} from '../../../api/types/v1-pod.js';
import type {ContainerId} from '../../../cri/index.js';

/** Resource amounts of a resize, in milli-CPUs and bytes; 0 when unset (kuberuntime resourceRequirements). */
export interface ResizedAmounts {
  readonly cpuRequest: bigint;
  readonly cpuLimit: bigint;
  readonly memoryRequest: bigint;
  readonly memoryLimit: bigint;
}

/** A resource update of a running container. */
export interface ContainerUpdate {
  readonly container: Container;
  readonly id: ContainerId;
  readonly desired: ResizedAmounts;
  /** Amounts that were last actuated. */
  readonly current: ResizedAmounts;
}

/** In-place resize of a running pod. */
export interface ResizeActions {
  /** Memory updates in order of execution: decreases come first. The same order applies to `cpu`. */
  readonly memory: readonly ContainerUpdate[];
  readonly cpu: readonly ContainerUpdate[];
  /** True to update the pod's cgroup even when no running container is updated. */
  readonly wholePod: boolean;
}
