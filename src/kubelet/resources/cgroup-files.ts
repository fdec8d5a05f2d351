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
export function cgroupValues(
  version: 1 | 2,
  {cpuShares, cpuQuota, memoryBytes, pids, hugePages = new Map()}: Partial<CgroupLimits>,
): readonly CgroupValue[] {
  const {memory, hugetlb} = LIMIT_FILES[version];
  return [
    ...(cpuShares === undefined ? [] : [cpuWeightValue(version, cpuShares)]),
    ...(cpuQuota === undefined ? [] : quotaValues(version, cpuQuota)),
    ...one('memory', memory, memoryBytes),
    ...one('pids', 'pids.max', pids),
    ...[...hugePages].flatMap(([size, bytes]) => one('hugetlb', `hugetlb.${size}.${hugetlb}`, bytes)),
  ];
}

/** The file of memory, and what the files of huge pages end in. */
const LIMIT_FILES = {
  1: {memory: 'memory.limit_in_bytes', hugetlb: 'limit_in_bytes'},
  2: {memory: 'memory.max', hugetlb: 'max'},
} as const;

/** The CPU weight alone, as kubepods and the levels below it have it. */
export function cpuWeightValue(version: 1 | 2, shares: bigint): CgroupValue {
  return version === 1
    ? {controller: 'cpu', file: 'cpu.shares', value: String(shares)}
    : {controller: 'cpu', file: 'cpu.weight', value: String(weightOfShares(shares))};
}

function quotaValues(
  version: 1 | 2,
  {quota, period}: NonNullable<CgroupLimits['cpuQuota']>,
): readonly CgroupValue[] {
  if (version === 2) return [{controller: 'cpu', file: 'cpu.max', value: `${quota} ${period}`}];
  return [
    {controller: 'cpu', file: 'cpu.cfs_period_us', value: String(period)},
    {controller: 'cpu', file: 'cpu.cfs_quota_us', value: String(quota)},
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

/** Where a pod's limits and what it uses are read. */
export const USAGE_FILES = {
  1: {shares: 'cpu.shares', limit: 'memory.limit_in_bytes', usage: 'memory.usage_in_bytes'},
  2: {shares: 'cpu.weight', limit: 'memory.max', usage: 'memory.current'},
} as const;

/** More than any machine has: how version 1 says that there is no limit. */
const NO_LIMIT_BYTES = 1n << 62n;

/** A number of bytes; undefined for what is no limit, or no number. */
export function parseBytes(text: string): bigint | undefined {
  const bytes = parseNumber(text);
  return bytes !== undefined && bytes < NO_LIMIT_BYTES ? bytes : undefined;
}

export function parseNumber(text: string): bigint | undefined {
  return /^-?\d+\s*$/.test(text) ? BigInt(text.trim()) : undefined;
}

/** The content of `cpu.max`, or of version 1's two files one after the other. */
export function parseQuota(text: string): CgroupLimits['cpuQuota'] {
  const [quota = '', period = ''] = text.trim().split(/\s+/);
  const each = parseNumber(period);
  return each === undefined ? undefined : {quota: parseNumber(quota) ?? -1n, period: each};
}
