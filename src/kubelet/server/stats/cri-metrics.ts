import {CriError, type Metric, type MetricDescriptor, type PodSandboxMetrics} from '../../../cri/index.js';
import type {MetricFamily, Sample} from '../../managers/metrics/exposition.js';
import type {ServerOptions} from '../http-server-options.js';

/**
 * Reads the metrics that the runtime provides under cAdvisor's names, as a kubelet with PodAndContainerStatsFromCRI does
 * (metrics/collectors/cri_metrics.go). Resolves with undefined if the runtime has none. Rejects with CriError.
 */
export async function readCriMetrics(
  {runtime}: Pick<ServerOptions, 'runtime'>,
  signal: AbortSignal,
): Promise<readonly MetricFamily[] | undefined> {
  try {
    const [{descriptors}, {podMetrics}] = await Promise.all([
      runtime.listMetricDescriptors({}, {signal}),
      runtime.listPodSandboxMetrics({}, {signal}),
    ]);
    return descriptors.length === 0 ? undefined : toMetricFamilies(descriptors, podMetrics);
  } catch (error) {
    if (error instanceof CriError && error.grpcCode === 'UNIMPLEMENTED') return undefined;
    throw error;
  }
}

/** Groups the runtime's metrics into families by their descriptors. */
function toMetricFamilies(
  descriptors: readonly MetricDescriptor[],
  pods: readonly PodSandboxMetrics[],
): readonly MetricFamily[] {
  const all = pods.flatMap(({metrics, containerMetrics}) => [
    ...metrics,
    ...containerMetrics.flatMap((container) => container.metrics),
  ]);
  const byName = new Map<string, Metric[]>();
  for (const metric of all) {
    const known = byName.get(metric.name);
    if (known === undefined) byName.set(metric.name, [metric]);
    else known.push(metric);
  }
  return descriptors.flatMap(({name, help, labelKeys}): readonly MetricFamily[] => {
    const metrics = byName.get(name) ?? [];
    const isCounter = metrics[0]?.metricType === 'COUNTER';
    const samples = metrics.map((metric) => sampleOf(metric, labelKeys));
    return [{name, help, type: isCounter ? 'counter' : 'gauge', samples}];
  });
}

function sampleOf({labelValues, value, timestamp}: Metric, keys: readonly string[]): Sample {
  return {
    labels: Object.fromEntries(keys.map((key, index) => [key, labelValues[index] ?? ''])),
    value: Number(value?.value ?? 0n),
    timestampMs: timestamp > 0n ? Number(timestamp / 1_000_000n) : undefined,
  };
}
