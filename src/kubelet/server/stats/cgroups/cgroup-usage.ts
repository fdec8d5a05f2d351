import type {PsiStats} from '../../../../cri/index.js';

/** CPU usage and limits of a cgroup (cAdvisor CpuStats, CpuSpec). Times are in nanoseconds. */
export interface CgroupCpu {
  readonly usageNanos: bigint;
  readonly userNanos: bigint;
  readonly systemNanos: bigint;
  /** Elapsed periods of the CPU limit, those in which the cgroup was throttled, and for how long. */
  readonly periods: bigint;
  readonly throttledPeriods: bigint;
  readonly throttledNanos: bigint;
  /** Periods in which the cgroup used more than its limit, and for how long. */
  readonly burstPeriods: bigint;
  readonly burstNanos: bigint;
  readonly shares: bigint;
  /** CPU time per period, in microseconds; undefined for no limit. */
  readonly quota: bigint | undefined;
  readonly period: bigint;
  readonly psi: PsiStats | undefined;
}

/** Memory usage and limits of a cgroup, in bytes (cAdvisor MemoryStats, MemorySpec). No limit is 0. */
export interface CgroupMemory {
  readonly usage: bigint;
  readonly maxUsage: bigint;
  readonly cache: bigint;
  readonly rss: bigint;
  readonly swap: bigint;
  readonly mappedFile: bigint;
  readonly kernelUsage: bigint;
  readonly activeFile: bigint;
  readonly inactiveFile: bigint;
  readonly pageFaults: bigint;
  readonly majorPageFaults: bigint;
  /** Times that usage reached the limit, and processes killed for lack of memory. */
  readonly limitHits: bigint;
  readonly oomKills: bigint;
  readonly limit: bigint;
  readonly swapLimit: bigint;
  readonly reservation: bigint;
  readonly psi: PsiStats | undefined;
}

/** Disk I/O of a cgroup on one device. */
export interface CgroupDisk {
  /** Path of the device, such as /dev/sda; empty if unknown. */
  readonly device: string;
  /** Numbers of the device, such as 8:0. */
  readonly numbers: string;
  /** Transferred bytes by operation, such as Read and Write; cgroup v1 has more of them. */
  readonly bytes: ReadonlyMap<string, bigint>;
  readonly readBytes: bigint;
  readonly writtenBytes: bigint;
  readonly reads: bigint;
  readonly writes: bigint;
}

/** Usage of a cgroup. Parts whose controller is missing are undefined. */
export interface CgroupUsage {
  readonly timeNanos: bigint;
  /** Creation time of the cgroup, in ns since the epoch. */
  readonly createdAtNanos: bigint;
  readonly cpu: CgroupCpu | undefined;
  readonly memory: CgroupMemory | undefined;
  readonly disks: readonly CgroupDisk[];
  readonly ioPressure: PsiStats | undefined;
  /** PIDs of the processes of the cgroup itself. */
  readonly pids: readonly string[];
  /** Number of threads, and the limit on it; 0 for no limit. */
  readonly threads: bigint;
  readonly maxThreads: bigint;
}
