import type {CgroupLimits} from '../container/cgroup-limits.js';

/** The controllers that limit a pod. */
export const CONTROLLERS = ['cpu', 'memory', 'pids', 'hugetlb'] as const;

/** The least weight, which is no claim on the CPU at all. */
export const MIN_SHARES = 2n;

/** A controller's file and what is written to it. */
export interface CgroupValue {
  readonly controller: (typeof CONTROLLERS)[number];
  readonly file: string;
  readonly value: string;
}

/** The values of both versions of cgroups, in the order in which the kernel takes them (libcontainer's fs and fs2). */
export function cgroupValues(version: 1 | 2, limits: CgroupLimits): readonly CgroupValue[] {
  return version === 1 ? valuesOfV1(limits) : valuesOfV2(limits);
}

/** The CPU weight alone, as kubepods and the levels below it have it. */
export function cpuWeightValue(version: 1 | 2, shares: bigint): CgroupValue {
  return version === 1
    ? {controller: 'cpu', file: 'cpu.shares', value: String(shares)}
    : {controller: 'cpu', file: 'cpu.weight', value: String(weightOfShares(shares))};
}

function valuesOfV1({
  cpuShares,
  cpuQuota,
  memoryBytes,
  pids,
  hugePages,
}: CgroupLimits): readonly CgroupValue[] {
  return [
    cpuWeightValue(1, cpuShares),
    ...(cpuQuota === undefined
      ? []
      : [
          {controller: 'cpu', file: 'cpu.cfs_period_us', value: String(cpuQuota.period)} as const,
          {controller: 'cpu', file: 'cpu.cfs_quota_us', value: String(cpuQuota.quota)} as const,
        ]),
    ...one('memory', 'memory.limit_in_bytes', memoryBytes),
    ...one('pids', 'pids.max', pids),
    ...[...hugePages].flatMap(([size, bytes]) => one('hugetlb', `hugetlb.${size}.limit_in_bytes`, bytes)),
  ];
}

function valuesOfV2({
  cpuShares,
  cpuQuota,
  memoryBytes,
  pids,
  hugePages,
}: CgroupLimits): readonly CgroupValue[] {
  return [
    cpuWeightValue(2, cpuShares),
    ...(cpuQuota === undefined
      ? []
      : [{controller: 'cpu', file: 'cpu.max', value: `${cpuQuota.quota} ${cpuQuota.period}`} as const]),
    ...one('memory', 'memory.max', memoryBytes),
    ...one('pids', 'pids.max', pids),
    ...[...hugePages].flatMap(([size, bytes]) => one('hugetlb', `hugetlb.${size}.max`, bytes)),
  ];
}

function one(
  controller: CgroupValue['controller'],
  file: string,
  value: bigint | undefined,
): readonly CgroupValue[] {
  return value === undefined ? [] : [{controller, file, value: String(value)}];
}

/** cgroup v2's weight for v1's shares (CPUSharesToCPUWeight): 2 to 262144 become 1 to 10000. */
export function weightOfShares(shares: bigint): bigint {
  return 1n + ((shares - 2n) * 9999n) / 262_142n;
}

/** The least shares that have the weight. */
export function sharesOfWeight(weight: bigint): bigint {
  return 2n + ((weight - 1n) * 262_142n + 9998n) / 9999n;
}
