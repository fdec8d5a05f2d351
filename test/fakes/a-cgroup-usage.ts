import type {CgroupUsage} from '../../src/kubelet/server/stats/cgroups/cgroup-usage.js';

/** Returns the usage of a cgroup without controllers and processes. */
export function aCgroupUsage(): CgroupUsage {
  return {
    ...{timeNanos: 1_700_000_000_000_000_000n, createdAtNanos: 1_600_000_000_000_000_000n},
    ...{cpu: undefined, memory: undefined, disks: [], ioPressure: undefined},
    ...{pids: [], threads: 0n, maxThreads: 0n},
  };
}
