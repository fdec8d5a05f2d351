/** Huge pages of one size. */
export interface HugePages {
  readonly pageSizeKib: number;
  readonly pages: number;
}

/** A cache of CPUs. */
export interface CpuCache {
  readonly id: number;
  readonly sizeBytes: number;
  /** `Data`, `Instruction` or `Unified`. */
  readonly type: string;
  readonly level: number;
}

/** A physical core of a NUMA node. */
export interface MachineCore {
  /** The kernel's core_id, which is unique per socket only. */
  readonly id: number;
  readonly socket: number;
  /** CPUs of the core that are online, in the order of their directory. */
  readonly threads: readonly number[];
  readonly caches: readonly CpuCache[];
  /** Caches above level 2 that not all cores of the NUMA node share; at most one is expected. */
  readonly uncoreCaches: readonly CpuCache[];
}

/** A NUMA node; one that has only memory has no cores. */
export interface NumaNode {
  readonly id: number;
  /** Zero if the kernel does not say. */
  readonly memoryBytes: bigint;
  readonly hugePages: readonly HugePages[];
  /** Distances to the NUMA nodes in the kernel's order; empty if the kernel does not say. */
  readonly distances: readonly number[];
  readonly cores: readonly MachineCore[];
  /** Caches above level 2 that all cores share. */
  readonly caches: readonly CpuCache[];
}

/** CPUs and memory of a machine as the kernel describes them (cAdvisor MachineInfo). */
export interface Machine {
  /** Number of CPUs that are online. */
  readonly cpuCount: number;
  /** Number of different core ids, which need not be that of the cores. */
  readonly physicalCoreCount: number;
  readonly socketCount: number;
  readonly memoryBytes: bigint;
  readonly swapBytes: bigint;
  readonly hugePages: readonly HugePages[];
  /** In the kernel's order of their names: node10 is before node2. */
  readonly numaNodes: readonly NumaNode[];
}

/** Place of a CPU in a machine. */
export interface CpuLocation {
  readonly numaNode: number;
  readonly socket: number;
  /** Lowest CPU of the core, which is unique in the machine. */
  readonly core: number;
  /** Id of the core's uncore cache, or that of the socket without one. */
  readonly uncoreCache: number;
}

/** Topology of the CPUs that are online (topology.CPUTopology). */
export interface CpuTopology {
  readonly cpuCount: number;
  readonly coreCount: number;
  readonly socketCount: number;
  /** Number of NUMA nodes that have CPUs. */
  readonly numaNodeCount: number;
  readonly uncoreCacheCount: number;
  /** Locations by CPU. */
  readonly cpus: ReadonlyMap<number, CpuLocation>;
}
