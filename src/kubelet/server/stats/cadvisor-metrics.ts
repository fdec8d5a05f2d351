import type {NetworkInterfaceUsage, PsiStats, UInt64Value} from '../../../cri/index.js';
import type {MetricFamily} from '../../managers/metrics/exposition.js';
import {counter, gauge, sampleOf, seconds, type CgroupMetric} from './cgroups/cgroup-metric.js';
import {KERNEL_METRICS} from './cgroups/kernel-metrics.js';
import {FILESYSTEM_METRICS} from './cgroups/filesystem-metrics.js';
import type {MeasuredCgroup} from './measured-cgroups.js';

const CGROUP_METRICS: readonly CgroupMetric[] = [
  counter('container_cpu_usage_seconds_total', 'Cumulative cpu time consumed in seconds.', ({cpu}) =>
    sampleOf(cpu?.usageCoreNanoSeconds, cpu?.timestamp, seconds, {cpu: 'total'}),
  ),
  counter('container_memory_failures_total', 'Cumulative count of memory allocation failures.', ({memory}) =>
    ['container', 'hierarchy'].flatMap((scope) => [
      ...sampleOf(memory?.pageFaults, memory?.timestamp, Number, failureLabels('pgfault', scope)),
      ...sampleOf(memory?.majorPageFaults, memory?.timestamp, Number, failureLabels('pgmajfault', scope)),
    ]),
  ),
  gauge('container_memory_rss', 'Size of RSS in bytes.', ({memory}) =>
    sampleOf(memory?.rssBytes, memory?.timestamp),
  ),
  gauge('container_memory_swap', 'Container swap usage in bytes.', ({swap}) =>
    sampleOf(swap?.swapUsageBytes, swap?.timestamp),
  ),
  gauge(
    'container_memory_usage_bytes',
    'Current memory usage in bytes, including all memory regardless of when it was accessed',
    ({memory}) => sampleOf(memory?.usageBytes, memory?.timestamp),
  ),
  gauge('container_memory_working_set_bytes', 'Current working set in bytes.', ({memory}) =>
    sampleOf(memory?.workingSetBytes, memory?.timestamp),
  ),
  ...networkMetrics('receive', 'received', 'receiving', ({rxBytes, rxErrors}) => [rxBytes, rxErrors]),
  ...networkMetrics('transmit', 'transmitted', 'transmitting', ({txBytes, txErrors}) => [txBytes, txErrors]),
  ...pressureMetrics('cpu', 'CPU', ({cpu}) => [cpu?.psi, cpu?.timestamp]),
  ...pressureMetrics('io', 'IO', ({io}) => [io?.psi, io?.timestamp]),
  ...pressureMetrics('memory', 'memory', ({memory}) => [memory?.psi, memory?.timestamp]),
  gauge(
    'container_processes',
    'Number of processes running inside the container.',
    ({kernel, processCount, memory}) => {
      const value = kernel === undefined ? processCount : BigInt(kernel.pids.length);
      return sampleOf(value === undefined ? undefined : {value}, kernel?.timeNanos ?? memory?.timestamp);
    },
  ),
  gauge(
    'container_start_time_seconds',
    'Start time of the container since unix epoch in seconds.',
    ({startedAtNanos = 0n}) => (startedAtNanos === 0n ? [] : [{value: Math.trunc(seconds(startedAtNanos))}]),
  ),
];

/** Returns cAdvisor's metrics of cgroups, from the usage that the runtime and the kernel report. */
export function collectCgroupMetrics(cgroups: readonly MeasuredCgroup[]): readonly MetricFamily[] {
  const isError = {name: 'container_scrape_error', type: 'gauge', samples: [{labels: {}, value: 0}]} as const;
  const help = '1 if there was an error while getting container metrics, 0 otherwise';
  const families = [...CGROUP_METRICS, ...FILESYSTEM_METRICS, ...KERNEL_METRICS].map(
    ({name, help, type, samples}) => ({
      ...{name, help, type},
      samples: cgroups.flatMap((cgroup) =>
        samples(cgroup).map((sample) => ({...sample, labels: {...cgroup.labels, ...sample.labels}})),
      ),
    }),
  );
  return [{...isError, help}, ...families];
}

/** Returns the metrics of one direction; `read` returns bytes and errors. */
function networkMetrics(
  direction: string,
  done: string,
  doing: string,
  read: (usage: NetworkInterfaceUsage) => readonly [UInt64Value | undefined, UInt64Value | undefined],
): readonly CgroupMetric[] {
  const each =
    (index: 0 | 1): CgroupMetric['samples'] =>
    ({network}) =>
      interfacesOf(network).flatMap((usage) =>
        sampleOf(read(usage)[index], network?.timestamp, Number, {interface: usage.name}),
      );
  return [
    counter(`container_network_${direction}_bytes_total`, `Cumulative count of bytes ${done}`, each(0)),
    counter(
      `container_network_${direction}_errors_total`,
      `Cumulative count of errors encountered while ${doing}`,
      each(1),
    ),
  ];
}

/** Returns each interface once: some runtimes list the default interface among the others too. */
function interfacesOf(network: MeasuredCgroup['network']): readonly NetworkInterfaceUsage[] {
  if (network === undefined) return [];
  const {defaultInterface, interfaces} = network;
  const others = interfaces.filter(({name}) => name !== defaultInterface?.name);
  return defaultInterface === undefined ? others : [defaultInterface, ...others];
}

/** Returns the metrics of the pressure on a resource. The kernel counts microseconds. */
function pressureMetrics(
  resource: string,
  named: string,
  read: (cgroup: MeasuredCgroup) => readonly [psi: PsiStats | undefined, timestamp: bigint | undefined],
): readonly CgroupMetric[] {
  const of =
    (kind: keyof PsiStats): CgroupMetric['samples'] =>
    (cgroup) => {
      const [psi, timestamp] = read(cgroup);
      const total = psi?.[kind]?.Total;
      const value = total === undefined ? undefined : {value: total};
      return sampleOf(value, timestamp, (micros) => Number(micros) / 1e6);
    };
  const name = `container_pressure_${resource}`;
  return [
    counter(
      `${name}_stalled_seconds_total`,
      `Total time duration no tasks in the container could make progress due to ${named} congestion.`,
      of('Full'),
    ),
    counter(
      `${name}_waiting_seconds_total`,
      `Total time duration tasks in the container have waited due to ${named} congestion.`,
      of('Some'),
    ),
  ];
}

function failureLabels(type: string, scope: string): Readonly<Record<string, string>> {
  return {failure_type: type, scope};
}
