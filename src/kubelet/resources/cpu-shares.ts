/** Lowest CPU weight of cgroup v1 that the kernel accepts (cm.MinShares). */
export const MIN_CPU_SHARES = 2n;
/** Highest CPU weight of cgroup v1 (cm.MaxShares). */
const MAX_CPU_SHARES = 262_144n;

/** Returns the CPU shares of cgroup v1 for a number of milli-CPUs (cm.MilliCPUToShares). */
export function milliCpuToShares(milli: bigint): bigint {
  const shares = (milli * 1024n) / 1000n;
  if (shares < MIN_CPU_SHARES) return MIN_CPU_SHARES;
  return shares > MAX_CPU_SHARES ? MAX_CPU_SHARES : shares;
}

/** Returns the fewest milli-CPUs that give these shares (sharesToMilliCPU); 0 below the minimum. */
export function sharesToMilliCpu(shares: bigint): bigint {
  return shares < MIN_CPU_SHARES ? 0n : (shares * 1000n + 1023n) / 1024n;
}

/** Converts cgroup v1 shares to a cgroup v2 weight (CPUSharesToCPUWeight): 2 to 262144 become 1 to 10000. */
export function cpuSharesToCpuWeight(shares: bigint): bigint {
  return 1n + ((shares - 2n) * 9999n) / 262_142n;
}

/** Returns the lowest cgroup v1 shares that convert to a cgroup v2 weight. */
export function cpuWeightToCpuShares(weight: bigint): bigint {
  return 2n + ((weight - 1n) * 262_142n + 9998n) / 9999n;
}
