import {CriError, type Metric, type MetricDescriptor, type PodSandboxMetrics} from '../../../../cri/index.js';
import {formatExposition, EXPOSITION_TYPE, type MetricFamily, type Sample} from '../../metrics/exposition.js';
import {HttpError, type BufferedResponse} from '../kubelet-response.js';
import type {ServerOptions} from '../http-server-options.js';

/**
 * Responds with the runtime's metrics under cAdvisor's names, like a kubelet with PodAndContainerStatsFromCRI
 * (metrics/collectors/cri_metrics.go). Rejects with HttpError 404 if the runtime has no such metrics; kcri does not
 * include cAdvisor.
 */
export async function cadvisorMetrics(
  {runtime}: Pick<ServerOptions, 'runtime'>,
  signal: AbortSignal,
): Promise<BufferedResponse> {
  try {
    const [{descriptors}, {podMetrics}] = await Promise.all([
      runtime.listMetricDescriptors({}, {signal}),
      runtime.listPodSandboxMetrics({}, {signal}),
    ]);
    const body = formatExposition(toMetricFamilies(descriptors, podMetrics));
    return {kind: 'buffered', status: 200, body, type: EXPOSITION_TYPE};
  } catch (error) {
    if (!(error instanceof CriError) || error.grpcCode !== 'UNIMPLEMENTED') throw error;
    throw new HttpError(
      404,
      'the container runtime does not provide metrics (ListPodSandboxMetrics); use /metrics/resource or /stats/summary for CPU and memory\n',
    );
  }
}

/** Groups the runtime's metrics into families by their descriptors. */
export function toMetricFamilies(
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
