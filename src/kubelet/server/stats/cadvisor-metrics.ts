import {cpus} from 'node:os';
import type {MachineIds} from '../../../base/host/machine-ids.js';
import type {NetworkInterfaceUsage, PsiStats, UInt64Value} from '../../../cri/index.js';
import type {MetricFamily} from '../../managers/metrics/exposition.js';
import {
  counter,
  gauge,
  sampleOf,
  seconds,
  type CgroupMetric,
  type CgroupSample,
} from './cgroups/cgroup-metric.js';
import {KERNEL_METRICS} from './cgroups/kernel-metrics.js';
import type {MeasuredCgroup} from './measured-cgroups.js';
import type {NodeUsage} from './node-usage.js';
import type {NodeFilesystem} from './storage/node-filesystems.js';

const CGROUP_METRICS: readonly CgroupMetric[] = [
  counter('container_cpu_usage_seconds_total', 'Cumulative cpu time consumed in seconds.', ({cpu}) =>
    sampleOf(cpu?.usageCoreNanoSeconds, cpu?.timestamp, seconds, {cpu: 'total'}),
  ),
  gauge('container_fs_inodes_used', 'Number of Inodes used by the container.', ({writableLayer: layer}) =>
    sampleOf(layer?.inodesUsed, layer?.timestamp, Number, {device: ''}),
  ),
  gauge(
    'container_fs_usage_bytes',
    'Number of bytes that are consumed by the container on this filesystem.',
    ({writableLayer: layer, filesystems = [], cpu}) => [
      ...sampleOf(layer?.usedBytes, layer?.timestamp, Number, {device: ''}),
      ...filesystemSamples(filesystems, cpu?.timestamp, ({usedBytes}) => usedBytes),
    ],
  ),
  filesystemGauge('inodes_free', 'Number of available Inodes', ({inodesFree}) => inodesFree),
  filesystemGauge('inodes_total', 'Number of Inodes', ({inodes}) => inodes),
  filesystemGauge(
    'limit_bytes',
    'Number of bytes that can be consumed by the container on this filesystem.',
    ({limitBytes}) => limitBytes,
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
    ({processCount, memory}) =>
      sampleOf(processCount === undefined ? undefined : {value: processCount}, memory?.timestamp),
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
  const families = [...CGROUP_METRICS, ...KERNEL_METRICS].map(({name, help, type, samples}) => ({
    ...{name, help, type},
    samples: cgroups.flatMap((cgroup) =>
      samples(cgroup).map((sample) => ({...sample, labels: {...cgroup.labels, ...sample.labels}})),
    ),
  }));
  return [{...isError, help}, ...families];
}

/** Parses /proc/cpuinfo; without its identifiers, as on some architectures, each processor is a core of one socket. */
export function parseCpuTopology(text: string): {readonly cores: number; readonly sockets: number} {
  const processors = text.split(/\n\s*\n/).filter((part) => /^processor\s*:/m.test(part));
  const field = (part: string, name: string): string | undefined =>
    new RegExp(`^${name}\\s*:\\s*(\\d+)`, 'm').exec(part)?.[1];
  const sockets = new Set(processors.map((part) => field(part, 'physical id') ?? '0'));
  const cores = new Set(
    processors.map((part, index) => `${field(part, 'physical id') ?? 0}/${field(part, 'core id') ?? index}`),
  );
  return {cores: cores.size, sockets: sockets.size};
}

/** Returns cAdvisor's metrics of the machine, whose /proc/cpuinfo is given (PrometheusMachineCollector). */
export function collectMachineMetrics(
  {memoryBytes, swapTotalBytes, timeNanos}: Pick<NodeUsage, 'memoryBytes' | 'swapTotalBytes' | 'timeNanos'>,
  {machineId, systemUuid, bootId}: MachineIds,
  cpuInfo: string,
): readonly MetricFamily[] {
  const labels = {machine_id: machineId, system_uuid: systemUuid, boot_id: bootId};
  const timestampMs = Number(timeNanos / 1_000_000n);
  const family = (name: string, help: string, value: number): MetricFamily => ({
    ...{name, help, type: 'gauge'},
    samples: [{labels, value, timestampMs}],
  });
  const {cores, sockets} = parseCpuTopology(cpuInfo);
  return [
    {
      ...{name: 'machine_scrape_error', type: 'gauge', samples: [{labels: {}, value: 0}]},
      help: '1 if there was an error while getting machine metrics, 0 otherwise.',
    },
    family('machine_cpu_cores', 'Number of logical CPU cores.', cpus().length),
    family('machine_cpu_physical_cores', 'Number of physical CPU cores.', cores),
    family('machine_cpu_sockets', 'Number of CPU sockets.', sockets),
    family('machine_memory_bytes', 'Amount of memory installed on the machine.', Number(memoryBytes)),
    family('machine_swap_bytes', 'Amount of swap memory available on the machine.', Number(swapTotalBytes)),
  ];
}

/** Returns a gauge of each file system of the node. */
function filesystemGauge(name: string, help: string, read: (of: NodeFilesystem) => bigint): CgroupMetric {
  return gauge(`container_fs_${name}`, help, ({filesystems = [], cpu}) =>
    filesystemSamples(filesystems, cpu?.timestamp, read),
  );
}

function filesystemSamples(
  filesystems: readonly NodeFilesystem[],
  timestamp: bigint | undefined,
  read: (of: NodeFilesystem) => bigint,
): readonly CgroupSample[] {
  return filesystems.flatMap((each) =>
    sampleOf({value: read(each)}, timestamp, Number, {device: each.device}),
  );
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
