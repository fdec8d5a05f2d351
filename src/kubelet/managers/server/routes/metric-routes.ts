import {formatExposition, EXPOSITION_TYPE} from '../../metrics/exposition.js';
import {jsonResponse, type KubeletResponse} from '../kubelet-response.js';
import type {ServerOptions} from '../http-server-options.js';
import type {Route} from '../router.js';
import type {ServedKubelet} from '../served-kubelet.js';
import {collectKubeletGauges} from '../stats/kubelet-gauges.js';
import {collectResourceMetrics} from '../stats/resource-metrics.js';
import {createCadvisorMetricsRoute} from '../stats/cadvisor-metrics.js';
import {buildSummaryJson} from '../stats/stats-summary.js';
import {UsageReader} from '../stats/usage-reader.js';

/**
 * Returns the routes of /metrics, /metrics/probes, /metrics/slis, /metrics/resource, /metrics/cadvisor and
 * /stats/summary.
 */
export function metricRoutes(kubelet: ServedKubelet, options: ServerOptions): readonly Route[] {
  const {metrics} = options;
  const usage = new UsageReader(kubelet, options);
  return [
    {
      pattern: '/metrics',
      handle: async () => metricsText(await metrics.metricsText(collectKubeletGauges(kubelet))),
    },
    {pattern: '/metrics/probes', handle: async () => Promise.resolve(metricsText(metrics.probesText()))},
    {pattern: '/metrics/slis', handle: async () => Promise.resolve(metricsText(metrics.slisText()))},
    {
      pattern: '/metrics/resource',
      handle: async ({signal}) => await resourceMetrics(usage, options, signal),
    },
    createCadvisorMetricsRoute(options),
    {
      pattern: '/stats/summary',
      methods: ['GET', 'POST'],
      handle: async ({query, signal}) => {
        const onlyCpuAndMemory = query.get('only_cpu_and_memory') === 'true';
        return jsonResponse(
          await buildSummaryJson(await usage.read(signal), {...options, onlyCpuAndMemory, signal}),
        );
      },
    },
  ];
}

function metricsText(body: string): KubeletResponse {
  return {kind: 'buffered', status: 200, body, type: EXPOSITION_TYPE};
}

/** Responds with the resource metrics; a failed scrape sets the metric `resource_scrape_error`. */
async function resourceMetrics(
  usage: UsageReader,
  {logger}: Pick<ServerOptions, 'logger'>,
  signal: AbortSignal,
): Promise<KubeletResponse> {
  try {
    return metricsText(formatExposition(collectResourceMetrics(await usage.read(signal))));
  } catch (error) {
    signal.throwIfAborted();
    logger
      .forFile('metric-routes.ts')
      .error(error, 'Error getting summary for resourceMetric prometheus endpoint');
    return metricsText(formatExposition(collectResourceMetrics(undefined)));
  }
}
