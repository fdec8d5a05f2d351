import type {DeviceUse} from './device-use.js';

/** Memory of NUMA nodes, or huge pages. */
export interface MemoryUse {
  /** `memory` or `hugepages-SIZE`. */
  readonly type: string;
  readonly bytes: bigint;
  readonly numaNodes: readonly number[];
}

/** What a container, or the node, has exclusively; what a manager knows nothing about is missing. */
export interface ResourceUse {
  readonly devices?: readonly DeviceUse[];
  readonly cpus?: readonly number[];
  readonly memory?: readonly MemoryUse[];
}

/** A manager whose resources the pod resources API shows. */
export interface PodResourceProvider {
  readonly ofContainer: (uid: string, container: string) => ResourceUse;
  /** Returns what containers can have. */
  readonly allocatable: () => ResourceUse;
}
