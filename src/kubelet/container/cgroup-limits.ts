/** What a cgroup's processes may have together. */
export interface CgroupLimits {
  /** The weight as cgroup v1 counts it, 1024 a CPU. */
  readonly cpuShares: bigint;
  /** Microseconds of CPU in each period of so many; absent for any number. */
  readonly cpuQuota?: {readonly quota: bigint; readonly period: bigint};
  readonly memoryBytes?: bigint;
  readonly pids?: bigint;
  /** Bytes by size in the kernel's words, `2MB`. */
  readonly hugePages: ReadonlyMap<string, bigint>;
}

/** What a pod's cgroup is limited to; a quota below 0, or no memory, is no limit. */
export interface PodCgroup extends Pick<CgroupLimits, 'cpuShares' | 'cpuQuota' | 'memoryBytes'> {
  /** What its processes use, in bytes; undefined when it isn't known. */
  readonly memoryUsageBytes?: bigint;
}
