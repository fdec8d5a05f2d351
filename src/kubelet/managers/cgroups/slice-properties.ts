import type {DBusVariant} from '../../../base/dbus/wire.js';
import type {CgroupValue} from './cgroup-files.js';

/** A property of a unit of systemd and its value. */
export type UnitProperty = readonly [name: string, value: DBusVariant];

/** Value of a limit that does not exist. */
const INFINITY = 2n ** 64n - 1n;
/** systemd stores the CPU time per second as a percentage, in µs. */
const PERCENT_MICROS = 10_000n;
const SECOND_MICROS = 1_000_000n;

/** Property with the period of the CPU quota, and the first version of systemd that has it. */
export const QUOTA_PERIOD = 'CPUQuotaPeriodUSec';
const FIRST_WITH_QUOTA_PERIOD = 242;

/** Properties that have the values of files, by cgroup version; for the others, systemd has none. */
const PROPERTIES: Readonly<Record<string, string>> = {
  'cpu.shares': 'CPUShares',
  'memory.limit_in_bytes': 'MemoryLimit',
  'cpu.weight': 'CPUWeight',
  'memory.max': 'MemoryMax',
  'memory.high': 'MemoryHigh',
  'memory.low': 'MemoryLow',
  'memory.min': 'MemoryMin',
  'memory.swap.max': 'MemorySwapMax',
  'pids.max': 'TasksMax',
};

/**
 * Returns the properties with which systemd creates a slice below another one, if any (Apply of libcontainer's UnifiedManager and
 * LegacyManager).
 */
export function creationProperties(
  slice: string,
  version: 1 | 2,
  parent: string | undefined,
): readonly UnitProperty[] {
  const disk = version === 1 ? 'BlockIOAccounting' : 'IOAccounting';
  const accounting = ['MemoryAccounting', 'CPUAccounting', disk, 'TasksAccounting'];
  return [
    ['Description', {signature: 's', value: `kcri cgroup ${slice}`}],
    ...(parent === undefined ? [] : [['Wants', {signature: 'as', value: [parent]}] as const]),
    ...accounting.map((name) => [name, {signature: 'b', value: true}] as const),
    ['DefaultDependencies', {signature: 'b', value: false}],
  ];
}

/**
 * Returns the properties that make systemd write the values of a slice's cgroup itself, since it writes all of them whenever it
 * changes one (libcontainer's genV2ResourcesProperties and genV1ResourcesProperties).
 */
export function limitProperties(values: readonly CgroupValue[]): readonly UnitProperty[] {
  const quota = quotaOf(values);
  return values.flatMap(({file, value}): readonly UnitProperty[] => {
    if (isQuota(file)) return quota === undefined ? [] : quotaProperties(quota);
    const name = PROPERTIES[file];
    return name === undefined ? [] : [number64(name, propertyValue(name, value))];
  });
}

/** Returns the properties that a version of systemd has, of those that limit a slice. One that is not a number has the fewest. */
export function knownProperties(
  properties: readonly UnitProperty[],
  version: unknown,
): readonly UnitProperty[] {
  const [major = '0'] = /\d+/.exec(String(version)) ?? [];
  return Number(major) >= FIRST_WITH_QUOTA_PERIOD
    ? properties
    : properties.filter(([name]) => name !== QUOTA_PERIOD);
}

/** Returns the values with the CPU quota that systemd writes: rounded up to a whole percent of a CPU (addCPUQuota). */
export function roundQuotas(values: readonly CgroupValue[]): readonly CgroupValue[] {
  const quota = quotaOf(values);
  if (quota?.quota === undefined) return values;
  const rounded = String((perSecond(quota.quota, quota.period) * quota.period) / SECOND_MICROS);
  return values.map((each) => {
    if (each.file === 'cpu.max') return {...each, value: `${rounded} ${quota.period}`};
    return each.file === 'cpu.cfs_quota_us' ? {...each, value: rounded} : each;
  });
}

/** CPU time of a cgroup in each period, in µs; undefined if it is not limited. */
interface CpuQuota {
  readonly quota: bigint | undefined;
  readonly period: bigint;
}

/** Returns the quota in the file of cgroup v2, or in the two of cgroup v1. */
function quotaOf(values: readonly CgroupValue[]): CpuQuota | undefined {
  const textOf = (name: string): string => values.find(({file}) => file === name)?.value ?? '';
  const both = textOf('cpu.max') || `${textOf('cpu.cfs_quota_us')} ${textOf('cpu.cfs_period_us')}`;
  const [quota = '', period = ''] = both.split(' ');
  if (period === '') return undefined;
  return {quota: /^[1-9]/.test(quota) ? BigInt(quota) : undefined, period: BigInt(period)};
}

/** Reports whether a file has the CPU quota; that with its period in cgroup v1 always comes with it. */
function isQuota(file: string): boolean {
  return file === 'cpu.max' || file === 'cpu.cfs_quota_us';
}

function quotaProperties({quota, period}: CpuQuota): readonly UnitProperty[] {
  return [
    number64(QUOTA_PERIOD, period),
    number64('CPUQuotaPerSecUSec', quota === undefined ? INFINITY : perSecond(quota, period)),
  ];
}

function propertyValue(name: string, value: string): bigint {
  if (value === 'max' || value.startsWith('-')) return INFINITY;
  // systemd does not accept 0.
  return name === 'TasksMax' && value === '0' ? 1n : BigInt(value);
}

function perSecond(quota: bigint, period: bigint): bigint {
  const micros = (quota * SECOND_MICROS) / period;
  return ((micros + PERCENT_MICROS - 1n) / PERCENT_MICROS) * PERCENT_MICROS;
}

function number64(name: string, value: bigint): UnitProperty {
  return [name, {signature: 't', value}];
}
