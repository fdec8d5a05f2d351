import {CriError, type Metric, type MetricDescriptor, type PodSandboxMetrics} from '../../../cri/index.js';
import {exposition, EXPOSITION_TYPE, type MetricFamily, type Sample} from '../../metrics/exposition.js';
import {HttpError, type Answer} from '../answer.js';
import type {ServerOptions} from '../options.js';
import type {Route} from '../routes.js';

/**
 * /metrics/cadvisor: what the runtime says under cAdvisor's names (metrics/collectors/cri_metrics.go), as a kubelet with
 * PodAndContainerStatsFromCRI. kcri has no cAdvisor; from a runtime without these metrics it is 404.
 */
export function runtimeMetricsRoute({runtime}: Pick<ServerOptions, 'runtime'>): Route {
  return {
    pattern: '/metrics/cadvisor',
    handle: async ({signal}): Promise<Answer> => {
      try {
        const [{descriptors}, {podMetrics}] = await Promise.all([
          runtime.listMetricDescriptors({}, {signal}),
          runtime.listPodSandboxMetrics({}, {signal}),
        ]);
        const body = exposition(runtimeFamilies(descriptors, podMetrics));
        return {kind: 'whole', status: 200, body, type: EXPOSITION_TYPE};
      } catch (error) {
        if (!(error instanceof CriError) || error.grpcCode !== 'UNIMPLEMENTED') throw error;
        throw new HttpError(
          404,
          'the container runtime has no metrics (ListPodSandboxMetrics); /metrics/resource and /stats/summary have CPU and memory\n',
        );
      }
    },
  };
}

/** The runtime's metrics by what it says they are. */
export function runtimeFamilies(
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
