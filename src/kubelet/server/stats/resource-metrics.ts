import type {ContainerStats, CpuUsage, MemoryUsage, UInt64Value} from '../../../cri/index.js';
import {namespacedName} from '../../contract/pod-ref.js';
import type {MetricFamily, Sample} from '../../managers/metrics/exposition.js';
import {containerSwap, podSwap} from './sum-usage.js';
import type {PodUsage, Usage} from './usage-reader.js';

type Labels = Readonly<Record<string, string>>;

/**
 * Returns the metrics of /metrics/resource, which metrics-server scrapes (metrics/collectors/resource_metrics.go).
 * `usage` is undefined if it could not be read.
 */
export function collectResourceMetrics(usage: Usage | undefined): readonly MetricFamily[] {
  const isError = [{labels: {}, value: usage === undefined ? 1 : 0}];
  const help = '1 if there was an error while getting container metrics, 0 otherwise';
  return [
    ...(usage === undefined
      ? []
      : [
          ...nodeFamilies(usage),
          ...containerFamilies(newestByName(usage.pods)),
          ...podFamilies(newestByName(usage.pods)),
        ]),
    {name: 'resource_scrape_error', help, stability: 'STABLE', type: 'gauge', samples: isError},
  ];
}

function nodeFamilies({node}: Usage): readonly MetricFamily[] {
  const at = (value: number): readonly Sample[] => [{labels: {}, value, timestampMs: ms(node.timeNanos)}];
  return [
    {
      name: 'node_cpu_usage_seconds_total',
      help: 'Cumulative cpu time consumed by the node in core-seconds',
      stability: 'STABLE',
      type: 'counter',
      samples: at(seconds(node.cpuNanos)),
    },
    {
      name: 'node_memory_working_set_bytes',
      help: 'Current working set of the node in bytes',
      stability: 'STABLE',
      type: 'gauge',
      samples: at(Number(node.workingSetBytes)),
    },
    {
      name: 'node_swap_usage_bytes',
      help: 'Current swap usage of the node in bytes. Reported only on non-windows systems',
      stability: 'ALPHA',
      type: 'gauge',
      samples: at(Number(node.swapTotalBytes - node.swapFreeBytes)),
    },
  ];
}

/** Returns the newest of several pods with the same name, because their samples would be the same series. */
function newestByName(pods: readonly PodUsage[]): readonly PodUsage[] {
  const byName = new Map<string, PodUsage>();
  for (const pod of pods) {
    const name = namespacedName(pod.ref);
    if (startOf(pod) >= startOf(byName.get(name))) byName.set(name, pod);
  }
  return [...byName.values()];
}

function startOf(pod: PodUsage | undefined): bigint {
  return pod?.startedAtNanos ?? 0n;
}

function containerFamilies(pods: readonly PodUsage[]): readonly MetricFamily[] {
  const each = (sample: (stats: ContainerStats, labels: Labels, start: bigint) => readonly Sample[]) =>
    pods.flatMap((pod) =>
      pod.containers.flatMap(({name, stats, startedAtNanos = 0n}) =>
        sample(stats, {container: name, ...podLabels(pod)}, startedAtNanos),
      ),
    );
  return [
    {
      name: 'container_cpu_usage_seconds_total',
      help: 'Cumulative cpu time consumed by the container in core-seconds',
      stability: 'STABLE',
      type: 'counter',
      samples: each(({cpu}, labels) => cpuSamples(cpu, labels)),
    },
    {
      name: 'container_memory_working_set_bytes',
      help: 'Current working set of the container in bytes',
      stability: 'STABLE',
      type: 'gauge',
      samples: each(({memory}, labels) => memorySamples(memory, labels)),
    },
    {
      name: 'container_start_time_seconds',
      help: 'Start time of the container since unix epoch in seconds',
      stability: 'STABLE',
      type: 'gauge',
      samples: each((_stats, labels, start) => (start > 0n ? [{labels, value: seconds(start)}] : [])),
    },
    {
      name: 'container_swap_usage_bytes',
      help: 'Current amount of the container swap usage in bytes. Reported only on non-windows systems',
      stability: 'ALPHA',
      type: 'gauge',
      samples: each((stats, labels) => {
        const swap = containerSwap(stats);
        return sampleOf(swap?.swapUsageBytes, swap?.timestamp, labels, Number);
      }),
    },
    {
      name: 'container_swap_limit_bytes',
      help: 'Current amount of the container swap limit in bytes. Reported only on non-windows systems',
      stability: 'ALPHA',
      type: 'gauge',
      samples: each((stats, labels) => {
        const swap = containerSwap(stats);
        const used = swap?.swapUsageBytes?.value ?? 0n;
        return sampleOf(swap?.swapAvailableBytes, swap?.timestamp, labels, (free) => Number(free + used));
      }),
    },
  ];
}

function podFamilies(pods: readonly PodUsage[]): readonly MetricFamily[] {
  return [
    {
      name: 'pod_cpu_usage_seconds_total',
      help: 'Cumulative cpu time consumed by the pod in core-seconds',
      stability: 'STABLE',
      type: 'counter',
      samples: pods.flatMap((pod) => cpuSamples(pod.cpu, podLabels(pod))),
    },
    {
      name: 'pod_memory_working_set_bytes',
      help: 'Current working set of the pod in bytes',
      stability: 'STABLE',
      type: 'gauge',
      samples: pods.flatMap((pod) => memorySamples(pod.memory, podLabels(pod))),
    },
    {
      name: 'pod_swap_usage_bytes',
      help: 'Current amount of the pod swap usage in bytes. Reported only on non-windows systems',
      stability: 'ALPHA',
      type: 'gauge',
      samples: pods.flatMap((pod) => {
        const swap = podSwap(pod);
        return sampleOf(swap?.swapUsageBytes, swap?.timestamp, podLabels(pod), Number);
      }),
    },
  ];
}

function podLabels({ref: {name, namespace}}: PodUsage): Labels {
  return {pod: name, namespace};
}

function cpuSamples(cpu: CpuUsage | undefined, labels: Labels): readonly Sample[] {
  return sampleOf(cpu?.usageCoreNanoSeconds, cpu?.timestamp, labels, seconds);
}

function memorySamples(memory: MemoryUsage | undefined, labels: Labels): readonly Sample[] {
  return sampleOf(memory?.workingSetBytes, memory?.timestamp, labels, Number);
}

/** Returns a sample, or none if the runtime does not report the value. */
function sampleOf(
  measured: UInt64Value | undefined,
  timestamp: bigint | undefined,
  labels: Labels,
  value: (measured: bigint) => number,
): readonly Sample[] {
  if (measured === undefined) return [];
  return [
    {labels, value: value(measured.value), timestampMs: timestamp === undefined ? undefined : ms(timestamp)},
  ];
}

function seconds(nanos: bigint): number {
  return Number(nanos) / 1e9;
}

function ms(nanos: bigint): number {
  return Number(nanos / 1_000_000n);
}
