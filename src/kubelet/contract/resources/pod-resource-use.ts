import type {Container, Pod} from '../../../api/types/v1-pod.js';
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

/** A ResourceClaim of a container, and the devices that its drivers have given. */
export interface ClaimUse {
  readonly name: string;
  readonly namespace: string;
  readonly devices: readonly {
    readonly driver: string;
    readonly pool: string;
    readonly device: string;
    /** Empty for a device that is not shared. */
    readonly shareId: string;
    readonly cdiDevices: readonly string[];
  }[];
}

/** A manager whose resources the pod resources API shows. */
export interface PodResourceProvider {
  readonly ofContainer: (uid: string, container: string) => ResourceUse;
  /** Returns the ResourceClaims of a container; by default it has none. */
  readonly claimsOf?: (pod: Pod, container: Container) => readonly ClaimUse[];
  /** Returns what containers can have. */
  readonly allocatable: () => ResourceUse;
}
