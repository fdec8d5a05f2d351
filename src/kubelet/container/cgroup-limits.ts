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
