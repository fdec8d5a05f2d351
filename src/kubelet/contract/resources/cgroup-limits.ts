/** Resource limits of a cgroup. */
export interface CgroupLimits {
  /** CPU weight in cgroup v1 units, 1024 per CPU. */
  readonly cpuShares: bigint;
  /** CPU time per period, both in microseconds; absent for no limit. */
  readonly cpuQuota?: {readonly quota: bigint; readonly period: bigint};
  readonly memoryBytes?: bigint;
  /** Values of other files of the memory controller (cgroup v2). */
  readonly memoryFiles?: Readonly<Record<string, string>>;
  readonly pids?: bigint;
  /** Huge page limits in bytes by page size in the kernel's notation, `2MB`. */
  readonly hugePages: ReadonlyMap<string, bigint>;
}

/** Current limits of a pod's cgroup; a negative quota or absent memory means no limit. */
export interface PodCgroup extends Pick<CgroupLimits, 'cpuShares' | 'cpuQuota' | 'memoryBytes'> {
  /** Memory usage of its processes, in bytes; undefined when unknown. */
  readonly memoryUsageBytes?: bigint;
}
