import {counter, gauge, sampleOf, seconds, type CgroupMetric, type CgroupSample} from './cgroup-metric.js';
import type {CgroupCpu, CgroupDisk, CgroupMemory, CgroupUsage} from './cgroup-usage.js';
import type {PacketUsage} from './packet-usage.js';
import {diskSamples} from './filesystem-metrics.js';

/** States of tasks in the order of cAdvisor. */
const TASK_STATES = ['iowaiting', 'running', 'sleeping', 'stopped', 'uninterruptible'].map((state) => ({
  state,
}));

/** Metrics of cAdvisor that only the kernel knows, since the CRI does not have them. */
export const KERNEL_METRICS: readonly CgroupMetric[] = [
  gauge('container_last_seen', 'Last time a container was seen by the exporter', ({kernel}) =>
    valueOf(kernel?.timeNanos, kernel, (nanos) => Math.trunc(seconds(nanos))),
  ),
  cpuCounter(
    'user_seconds_total',
    'Cumulative user cpu time consumed in seconds.',
    (cpu) => cpu.userNanos,
    seconds,
  ),
  cpuCounter(
    'system_seconds_total',
    'Cumulative system cpu time consumed in seconds.',
    (cpu) => cpu.systemNanos,
    seconds,
  ),
  limitCounter('periods_total', 'Number of elapsed enforcement period intervals.', (cpu) => cpu.periods),
  limitCounter(
    'throttled_periods_total',
    'Number of throttled period intervals.',
    (cpu) => cpu.throttledPeriods,
  ),
  limitCounter(
    'throttled_seconds_total',
    'Total time duration the container has been throttled.',
    (cpu) => cpu.throttledNanos,
    seconds,
  ),
  limitCounter('burst_periods_total', 'Number of periods when burst occurs.', (cpu) => cpu.burstPeriods),
  limitCounter(
    'burst_seconds_total',
    'Total time duration the container has been bursted.',
    (cpu) => cpu.burstNanos,
    seconds,
  ),
  memoryGauge('cache', 'Number of bytes of page cache memory.', (memory) => memory.cache),
  memoryGauge('kernel_usage', 'Size of kernel memory allocated in bytes.', (memory) => memory.kernelUsage),
  memoryGauge('mapped_file', 'Size of memory mapped files in bytes.', (memory) => memory.mappedFile),
  memoryGauge('max_usage_bytes', 'Maximum memory usage recorded in bytes', (memory) => memory.maxUsage),
  memoryGauge(
    'total_active_file_bytes',
    'Current total active file in bytes.',
    (memory) => memory.activeFile,
  ),
  memoryGauge(
    'total_inactive_file_bytes',
    'Current total inactive file in bytes.',
    (memory) => memory.inactiveFile,
  ),
  counter('container_memory_failcnt', 'Number of memory usage hits limits', ({kernel}) =>
    valueOf(kernel?.memory?.limitHits, kernel),
  ),
  counter(
    'container_oom_events_total',
    'Count of out of memory events observed for the container',
    ({kernel}) => valueOf(kernel?.memory?.oomKills, kernel),
  ),
  diskCounter('reads_bytes_total', 'Cumulative count of bytes read', (disk) => disk.readBytes),
  operationCounter('reads'),
  diskCounter('writes_bytes_total', 'Cumulative count of bytes written', (disk) => disk.writtenBytes),
  operationCounter('writes'),
  counter('container_blkio_device_usage_total', 'Blkio Device bytes usage', ({kernel}) =>
    (kernel?.disks ?? []).flatMap((disk) => deviceSamples(disk, kernel?.timeNanos)),
  ),
  constantGauge(
    'container_cpu_load_average_10s',
    'Value of container cpu load average over the last 10 seconds.',
  ),
  constantGauge(
    'container_cpu_load_d_average_10s',
    'Value of container cpu load.d average over the last 10 seconds.',
  ),
  constantGauge('container_tasks_state', 'Number of tasks in given state', {labels: TASK_STATES}),
  constantGauge('container_health_state', "The result of the container's health check", {value: -1}),
  gauge(
    'container_file_descriptors',
    'Number of open file descriptors for the container.',
    ({processes, kernel}) => valueOf(processes?.fileDescriptors, kernel),
  ),
  gauge('container_sockets', 'Number of open sockets for the container.', ({processes, kernel}) =>
    valueOf(processes?.sockets, kernel),
  ),
  gauge(
    'container_ulimits_soft',
    'Soft ulimit values for the container root process. Unlimited if -1, except priority and nice',
    ({processes, kernel}) =>
      valueOf(processes?.maxOpenFiles, kernel).map((sample) => ({
        ...sample,
        labels: {ulimit: 'max_open_files'},
      })),
  ),
  packetCounter('receive_packets_total', 'Cumulative count of packets received', (usage) => usage.rxPackets),
  packetCounter(
    'receive_packets_dropped_total',
    'Cumulative count of packets dropped while receiving',
    (usage) => usage.rxDropped,
  ),
  packetCounter(
    'transmit_packets_total',
    'Cumulative count of packets transmitted',
    (usage) => usage.txPackets,
  ),
  packetCounter(
    'transmit_packets_dropped_total',
    'Cumulative count of packets dropped while transmitting',
    (usage) => usage.txDropped,
  ),
  gauge('container_threads', 'Number of threads running inside the container', ({kernel}) =>
    valueOf(kernel?.threads, kernel),
  ),
  gauge(
    'container_threads_max',
    'Maximum number of threads allowed inside the container, infinity if value is zero',
    ({kernel}) => valueOf(kernel?.maxThreads, kernel),
  ),
  cpuSpec('period', 'CPU period of the container.', (cpu) => cpu.period),
  cpuSpec('quota', 'CPU quota of the container.', (cpu) => cpu.quota),
  cpuSpec('shares', 'CPU share of the container.', (cpu) => cpu.shares),
  memorySpec('limit_bytes', 'Memory limit for the container.', (memory) => memory.limit),
  memorySpec('swap_limit_bytes', 'Memory swap limit for the container.', (memory) => memory.swapLimit),
  memorySpec(
    'reservation_limit_bytes',
    'Memory reservation limit for the container.',
    (memory) => memory.reservation,
  ),
];

/**
 * Returns a gauge with the value that it always has in a kubelet, which leaves cAdvisor's load reader off and has no Docker health
 * checks.
 */
function constantGauge(
  name: string,
  help: string,
  {
    value = 0,
    labels = [{}],
  }: {readonly value?: number; readonly labels?: readonly CgroupSample['labels'][]} = {},
): CgroupMetric {
  return gauge(name, help, ({kernel}) =>
    labels.flatMap((each) => sampleOf(kernel && {value: 0n}, kernel?.timeNanos, () => value, each)),
  );
}

function valueOf(
  value: bigint | undefined,
  kernel: CgroupUsage | undefined,
  convert: (value: bigint) => number = Number,
): readonly CgroupSample[] {
  return sampleOf(value === undefined ? undefined : {value}, kernel?.timeNanos, convert);
}

function cpuCounter(
  name: string,
  help: string,
  read: (cpu: CgroupCpu) => bigint,
  convert: (value: bigint) => number,
): CgroupMetric {
  return counter(`container_cpu_${name}`, help, ({kernel}) =>
    valueOf(kernel?.cpu && read(kernel.cpu), kernel, convert),
  );
}

/** Returns a counter that only cgroups with a CPU limit have. */
function limitCounter(
  name: string,
  help: string,
  read: (cpu: CgroupCpu) => bigint,
  convert: (value: bigint) => number = Number,
): CgroupMetric {
  return counter(`container_cpu_cfs_${name}`, help, ({kernel}) =>
    kernel?.cpu?.quota === undefined ? [] : valueOf(read(kernel.cpu), kernel, convert),
  );
}

function memoryGauge(name: string, help: string, read: (memory: CgroupMemory) => bigint): CgroupMetric {
  return gauge(`container_memory_${name}`, help, ({kernel}) =>
    valueOf(kernel?.memory && read(kernel.memory), kernel),
  );
}

function diskCounter(name: string, help: string, read: (disk: CgroupDisk) => bigint): CgroupMetric {
  return counter(`container_fs_${name}`, help, ({kernel}) =>
    (kernel?.disks ?? []).flatMap((disk) =>
      sampleOf({value: read(disk)}, kernel?.timeNanos, Number, {device: disk.device}),
    ),
  );
}

/** Returns a counter of operations on the disks of a cgroup, and of the node on those that the root does not count. */
function operationCounter(operations: 'reads' | 'writes'): CgroupMetric {
  return counter(
    `container_fs_${operations}_total`,
    `Cumulative count of ${operations} completed`,
    (cgroup) => {
      const {disks = [], timeNanos} = cgroup.kernel ?? {};
      const own = disks.flatMap((disk) =>
        sampleOf({value: disk[operations]}, timeNanos, Number, {device: disk.device}),
      );
      const known = new Set(disks.map(({device}) => device));
      return [...own, ...diskSamples(cgroup, (activity) => activity[operations], known)];
    },
  );
}

/** Returns the bytes of a device by operation. */
function deviceSamples(
  {device, numbers, bytes}: CgroupDisk,
  timestamp: bigint | undefined,
): readonly CgroupSample[] {
  const [major = '', minor = ''] = numbers.split(':');
  return [...bytes].flatMap(([operation, value]) =>
    sampleOf({value}, timestamp, Number, {device, major, minor, operation}),
  );
}

function packetCounter(name: string, help: string, read: (usage: PacketUsage) => bigint): CgroupMetric {
  return counter(`container_network_${name}`, help, ({packets = [], kernel}) =>
    packets.flatMap((usage) =>
      sampleOf({value: read(usage)}, kernel?.timeNanos, Number, {interface: usage.name}),
    ),
  );
}

/** Returns a gauge of the specification, which has no timestamp. */
function cpuSpec(name: string, help: string, read: (cpu: CgroupCpu) => bigint | undefined): CgroupMetric {
  return gauge(`container_spec_cpu_${name}`, help, ({kernel}) =>
    valueOf(kernel?.cpu && read(kernel.cpu), undefined),
  );
}

function memorySpec(name: string, help: string, read: (memory: CgroupMemory) => bigint): CgroupMetric {
  return gauge(`container_spec_memory_${name}`, help, ({kernel}) =>
    valueOf(kernel?.memory && read(kernel.memory), undefined),
  );
}
