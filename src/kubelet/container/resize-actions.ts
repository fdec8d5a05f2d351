import type {Container} from '../../api/v1.js';
import type {ContainerId} from '../../cri/index.js';

/** Of what a resize is about: milli-CPUs and bytes, 0 for what nobody speaks of (kuberuntime resourceRequirements). */
export interface ResizedAmounts {
  readonly cpuRequest: bigint;
  readonly cpuLimit: bigint;
  readonly memoryRequest: bigint;
  readonly memoryLimit: bigint;
}

/** A running container that is given other resources. */
export interface ContainerUpdate {
  readonly container: Container;
  readonly id: ContainerId;
  readonly desired: ResizedAmounts;
  /** What it was last given. */
  readonly current: ResizedAmounts;
}

/** What of a running pod is to be resized in place. */
export interface ResizeActions {
  /** In the order in which they are made: what becomes less comes first. So it is with `cpu`. */
  readonly memory: readonly ContainerUpdate[];
  readonly cpu: readonly ContainerUpdate[];
  /** The pod's cgroup has to follow also where no running container is updated. */
  readonly wholePod: boolean;
}
