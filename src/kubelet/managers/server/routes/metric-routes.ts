import {formatExposition, EXPOSITION_TYPE} from '../../metrics/exposition.js';
import {jsonResponse, type BufferedResponse} from '../kubelet-response.js';
import type {ServerOptions} from '../http-server-options.js';
import type {Route} from '../router.js';
import type {ServedKubelet} from '../served-kubelet.js';
import {shareResponse} from '../shared-response.js';
import {collectKubeletGauges} from '../stats/kubelet-gauges.js';
import {collectResourceMetrics} from '../stats/resource-metrics.js';
import {cadvisorMetrics} from '../stats/cadvisor-metrics.js';
import {buildSummaryJson} from '../stats/stats-summary.js';
import {UsageReader} from '../stats/usage-reader.js';

/**
 * Returns the routes of /metrics, /metrics/probes, /metrics/slis, /metrics/resource, /metrics/cadvisor and
 * /stats/summary. The signal aborts calls to the runtime.
 */
export function metricRoutes(
  kubelet: ServedKubelet,
  options: ServerOptions,
  signal: AbortSignal,
): readonly Route[] {
  const {metrics} = options;
  const usage = new UsageReader(kubelet, options);
  const summary = shareResponse(() => statsSummary(usage, options, {onlyCpuAndMemory: false, signal}));
  const cpuAndMemory = shareResponse(() => statsSummary(usage, options, {onlyCpuAndMemory: true, signal}));
  return [
    {
      pattern: '/metrics',
      handle: shareResponse(async () =>
        metricsText(await metrics.metricsText(collectKubeletGauges(kubelet))),
      ),
    },
    {pattern: '/metrics/probes', handle: shareResponse(async () => metricsText(metrics.probesText()))},
    {pattern: '/metrics/slis', handle: shareResponse(async () => metricsText(metrics.slisText()))},
    {pattern: '/metrics/resource', handle: shareResponse(() => resourceMetrics(usage, options, signal))},
    {pattern: '/metrics/cadvisor', handle: shareResponse(() => cadvisorMetrics(options, signal))},
    {
      pattern: '/stats/summary',
      methods: ['GET', 'POST'],
      handle: ({query}) => (query.get('only_cpu_and_memory') === 'true' ? cpuAndMemory() : summary()),
    },
  ];
}

async function statsSummary(
  usage: UsageReader,
  options: ServerOptions,
  request: {readonly onlyCpuAndMemory: boolean; readonly signal: AbortSignal},
): Promise<BufferedResponse> {
  return jsonResponse(await buildSummaryJson(await usage.read(request.signal), {...options, ...request}));
}

function metricsText(body: string): BufferedResponse {
  return {kind: 'buffered', status: 200, body, type: EXPOSITION_TYPE};
}

/** Responds with the resource metrics; a failed scrape sets the metric `resource_scrape_error`. */
async function resourceMetrics(
  usage: UsageReader,
  {logger}: Pick<ServerOptions, 'logger'>,
  signal: AbortSignal,
): Promise<BufferedResponse> {
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
