import type {DBusVariant} from '../../../base/dbus/wire.js';
import type {CgroupValue} from './cgroup-files.js';

/** A property of a unit of systemd and its value. */
export type UnitProperty = readonly [name: string, value: DBusVariant];

/** Value of a limit that does not exist. */
const INFINITY = 2n ** 64n - 1n;
/** systemd stores the CPU time per second as a percentage, in µs. */
const PERCENT_MICROS = 10_000n;
const SECOND_MICROS = 1_000_000n;

/** Properties that have the values of files; for the others, systemd has none. */
const PROPERTIES: Readonly<Record<string, string>> = {
  'cpu.weight': 'CPUWeight',
  'memory.max': 'MemoryMax',
  'memory.high': 'MemoryHigh',
  'memory.low': 'MemoryLow',
  'memory.min': 'MemoryMin',
  'memory.swap.max': 'MemorySwapMax',
  'pids.max': 'TasksMax',
};

/** Returns the properties with which systemd creates a slice below another one, if any (libcontainer's UnifiedManager Apply). */
export function creationProperties(slice: string, parent: string | undefined): readonly UnitProperty[] {
  const accounting = ['MemoryAccounting', 'CPUAccounting', 'IOAccounting', 'TasksAccounting'];
  return [
    ['Description', {signature: 's', value: `kcri cgroup ${slice}`}],
    ...(parent === undefined ? [] : [['Wants', {signature: 'as', value: [parent]}] as const]),
    ...accounting.map((name) => [name, {signature: 'b', value: true}] as const),
    ['DefaultDependencies', {signature: 'b', value: false}],
  ];
}

/**
 * Returns the properties that make systemd write the values of a slice's cgroup itself, since it writes all of them whenever it
 * changes one (libcontainer's genV2ResourcesProperties). Quotas are rounded up to whole percents.
 */
export function limitProperties(values: readonly CgroupValue[]): readonly UnitProperty[] {
  return values.flatMap(({file, value}): readonly UnitProperty[] => {
    if (file === 'cpu.max') return quotaProperties(value);
    const name = PROPERTIES[file];
    return name === undefined ? [] : [number64(name, value === 'max' ? INFINITY : BigInt(value))];
  });
}

function quotaProperties(value: string): readonly UnitProperty[] {
  const [quota = '', period = ''] = value.split(' ');
  return [
    number64('CPUQuotaPeriodUSec', BigInt(period)),
    number64('CPUQuotaPerSecUSec', quota === 'max' ? INFINITY : perSecond(BigInt(quota), BigInt(period))),
  ];
}

function perSecond(quota: bigint, period: bigint): bigint {
  const micros = (quota * SECOND_MICROS) / period;
  return ((micros + PERCENT_MICROS - 1n) / PERCENT_MICROS) * PERCENT_MICROS;
}

function number64(name: string, value: bigint): UnitProperty {
  return [name, {signature: 't', value}];
}
