import type {UInt64Value} from '../../../../cri/index.js';
import type {MetricFamily, Sample} from '../../../managers/metrics/exposition.js';
import type {MeasuredCgroup} from '../measured-cgroups.js';

/** A sample without the labels of its cgroup. */
export type CgroupSample = Omit<Sample, 'labels'> & {readonly labels?: Readonly<Record<string, string>>};

/** A metric and its samples for a cgroup; none if neither runtime nor kernel report the value. */
export interface CgroupMetric extends Pick<MetricFamily, 'name' | 'help' | 'type'> {
  readonly samples: (cgroup: MeasuredCgroup) => readonly CgroupSample[];
}

/** Returns a counter. */
export function counter(name: string, help: string, samples: CgroupMetric['samples']): CgroupMetric {
  return {name, help, type: 'counter', samples};
}

/** Returns a gauge. */
export function gauge(name: string, help: string, samples: CgroupMetric['samples']): CgroupMetric {
  return {name, help, type: 'gauge', samples};
}

/** Returns seconds of nanoseconds. */
export function seconds(nanos: bigint): number {
  return Number(nanos) / 1e9;
}

/** Returns a sample; none for a value that is not known. */
export function sampleOf(
  measured: UInt64Value | undefined,
  timestamp: bigint | undefined,
  value: (measured: bigint) => number = Number,
  labels: Readonly<Record<string, string>> = {},
): readonly CgroupSample[] {
  if (measured === undefined) return [];
  const timestampMs = timestamp === undefined ? undefined : Number(timestamp / 1_000_000n);
  return [{labels, value: value(measured.value), timestampMs}];
}
