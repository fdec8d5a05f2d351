import type {CgroupLimits} from '../../contract/resources/cgroup-limits.js';
import {cpuSharesToCpuWeight} from '../../resources/cpu-shares.js';

/** Cgroup controllers that limit a pod. */
export const CONTROLLERS = ['cpu', 'memory', 'pids', 'hugetlb'] as const;

/** File of a controller and the value to write. */
export interface CgroupValue {
  readonly controller: (typeof CONTROLLERS)[number];
  readonly file: string;
  readonly value: string;
}

/** Returns the values to write for limits, in the order that the kernel requires (libcontainer's fs and fs2). */
export function cgroupValues(
  version: 1 | 2,
  {cpuShares, cpuQuota, memoryBytes, memoryFiles = {}, pids, hugePages = new Map()}: Partial<CgroupLimits>,
): readonly CgroupValue[] {
  const {memory, hugetlb} = LIMIT_FILES[version];
  return [
    ...(cpuShares === undefined ? [] : [cpuWeightValue(version, cpuShares)]),
    ...(cpuQuota === undefined ? [] : quotaValues(version, cpuQuota)),
    ...limitValue('memory', memory, memoryBytes),
    ...Object.entries(memoryFiles).map(([file, value]) => ({controller: 'memory' as const, file, value})),
    ...limitValue('pids', 'pids.max', pids),
    ...[...hugePages].flatMap(([size, bytes]) => limitValue('hugetlb', `hugetlb.${size}.${hugetlb}`, bytes)),
  ];
}

/** Memory limit file, and suffix of huge page limit files, by cgroup version. */
const LIMIT_FILES = {
  1: {memory: 'memory.limit_in_bytes', hugetlb: 'limit_in_bytes'},
  2: {memory: 'memory.max', hugetlb: 'max'},
} as const;

/** Returns the file and value of the CPU weight. */
export function cpuWeightValue(version: 1 | 2, shares: bigint): CgroupValue {
  return version === 1
    ? {controller: 'cpu', file: 'cpu.shares', value: String(shares)}
    : {controller: 'cpu', file: 'cpu.weight', value: String(cpuSharesToCpuWeight(shares))};
}

function quotaValues(
  version: 1 | 2,
  {quota, period}: NonNullable<CgroupLimits['cpuQuota']>,
): readonly CgroupValue[] {
  if (version === 2)
    return [{controller: 'cpu', file: 'cpu.max', value: `${quota > 0n ? quota : 'max'} ${period}`}];
  return [
    {controller: 'cpu', file: 'cpu.cfs_period_us', value: String(period)},
    {controller: 'cpu', file: 'cpu.cfs_quota_us', value: String(quota)},
  ];
}

function limitValue(
  controller: CgroupValue['controller'],
  file: string,
  value: bigint | undefined,
): readonly CgroupValue[] {
  return value === undefined ? [] : [{controller, file, value: String(value)}];
}

/** Files with the limits and usage of a pod, by cgroup version. */
export const USAGE_FILES = {
  1: {shares: 'cpu.shares', limit: 'memory.limit_in_bytes', usage: 'memory.usage_in_bytes'},
  2: {shares: 'cpu.weight', limit: 'memory.max', usage: 'memory.current'},
} as const;

/** Values from here on mean no limit in cgroup v1. */
const NO_LIMIT_BYTES = 1n << 62n;

/** Parses a memory limit in bytes; undefined for no limit or an invalid number. */
export function parseBytes(text: string): bigint | undefined {
  const bytes = parseNumber(text);
  return bytes !== undefined && bytes < NO_LIMIT_BYTES ? bytes : undefined;
}

/** Parses an integer; undefined if it is invalid. */
export function parseNumber(text: string): bigint | undefined {
  return /^-?\d+\s*$/.test(text) ? BigInt(text.trim()) : undefined;
}

/** Parses `cpu.max`, or the concatenated quota and period files of cgroup v1; undefined if the period is invalid. */
export function parseQuota(text: string): CgroupLimits['cpuQuota'] {
  const [quota = '', period = ''] = text.trim().split(/\s+/);
  const each = parseNumber(period);
  return each === undefined ? undefined : {quota: parseNumber(quota) ?? -1n, period: each};
}
