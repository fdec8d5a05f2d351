import type {CgroupLimits} from './cgroup-limits.js';

/** Resources of the node that pods cannot use. */
export interface ReservedResources {
  readonly cpuMilli: bigint;
  readonly memoryBytes: bigint;
  readonly ephemeralStorageBytes: bigint;
  readonly pids: bigint;
}

/** A cgroup outside of the pods' whose limits are the resources that are reserved for it. */
export interface ReservedCgroup {
  readonly kind: 'system' | 'kube';
  /** Absolute path in the hierarchies. */
  readonly path: string;
  readonly limits: Partial<CgroupLimits>;
  /** True if only CPU time is limited (`system-reserved-compressible`). */
  readonly isCompressible?: boolean;
}

/** Reserved resources and where limits enforce them (NodeAllocatableConfig). */
export interface NodeReservations {
  /** Sum of systemReserved and kubeReserved. */
  readonly total: ReservedResources;
  /** Memory and storage that hard eviction thresholds retain; pods cannot request them. */
  readonly eviction: Pick<ReservedResources, 'memoryBytes' | 'ephemeralStorageBytes'>;
  /** True if all pods together are limited to what is not reserved, otherwise to the capacity of the node. */
  readonly limitsPods: boolean;
  /** Cgroups that exist already and are limited to what is reserved for them. */
  readonly cgroups: readonly ReservedCgroup[];
}
