import {exposition, EXPOSITION_TYPE} from '../metrics/exposition.js';
import {json, type Answer} from './answer.js';
import type {ServerOptions} from './options.js';
import type {Route} from './routes.js';
import type {ServedKubelet} from './served-kubelet.js';
import {kubeletGauges} from './stats/kubelet-gauges.js';
import {resourceFamilies} from './stats/resource-metrics.js';
import {runtimeMetricsRoute} from './stats/runtime-metrics.js';
import {summaryJson} from './stats/summary.js';
import {UsageReader} from './stats/usage.js';

/** /metrics and its sisters, and /stats/summary. */
export function metricRoutes(kubelet: ServedKubelet, options: ServerOptions): readonly Route[] {
  const {metrics} = options;
  const usage = new UsageReader(kubelet, options);
  return [
    {pattern: '/metrics', handle: async () => metricsText(await metrics.text(kubeletGauges(kubelet)))},
    {pattern: '/metrics/probes', handle: async () => Promise.resolve(metricsText(metrics.probesText()))},
    {pattern: '/metrics/slis', handle: async () => Promise.resolve(metricsText(metrics.slisText()))},
    {
      pattern: '/metrics/resource',
      handle: async ({signal}) => await resourceMetrics(usage, options, signal),
    },
    runtimeMetricsRoute(options),
    {
      pattern: '/stats/summary',
      methods: ['GET', 'POST'],
      handle: async ({query, signal}) => {
        const onlyCpuAndMemory = query.get('only_cpu_and_memory') === 'true';
        return json(await summaryJson(await usage.read(signal), {...options, onlyCpuAndMemory, signal}));
      },
    },
  ];
}

function metricsText(body: string): Answer {
  return {kind: 'whole', status: 200, body, type: EXPOSITION_TYPE};
}

/** A scrape that could not be made is one of its own numbers. */
async function resourceMetrics(
  usage: UsageReader,
  {logger}: Pick<ServerOptions, 'logger'>,
  signal: AbortSignal,
): Promise<Answer> {
  try {
    return metricsText(exposition(resourceFamilies(await usage.read(signal))));
  } catch (error) {
    signal.throwIfAborted();
    logger.error(error, 'Error getting summary for resourceMetric prometheus endpoint');
    return metricsText(exposition(resourceFamilies(undefined)));
  }
}
