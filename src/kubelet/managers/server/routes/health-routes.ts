import type {Clock} from '../../../../base/clock.js';
import type {Logger} from '../../../../base/logger.js';
import type {KubeletMetricsRegistry} from '../../metrics/kubelet-metrics-registry.js';
import {errorResponse, textResponse, type KubeletResponse, type KubeletRequest} from '../kubelet-response.js';
import type {Route} from '../router.js';
import type {ServedKubelet} from '../served-kubelet.js';

/** Health check; returns the failure, or undefined if healthy. */
type HealthCheck = () => string | undefined;

const MIN_SYNC_LOOP_LIMIT_MS = 5 * 60 * 1000;

/** Dependencies of the health checks. */
export interface HealthOptions {
  readonly kubelet: Pick<ServedKubelet, 'lastActiveAt'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly syncFrequencyMs: number;
  readonly metrics: Pick<KubeletMetricsRegistry, 'health'>;
}

/** Returns the routes of /healthz and of each check (apiserver healthz.InstallHandler). */
export function healthRoutes(options: HealthOptions): readonly Route[] {
  const {kubelet, clock, syncFrequencyMs} = options;
  const limitMs = Math.max(MIN_SYNC_LOOP_LIMIT_MS, 2 * syncFrequencyMs);
  const checks: ReadonlyMap<string, HealthCheck> = new Map([
    ['ping', () => undefined],
    ['log', () => undefined],
    [
      'syncloop',
      () =>
        clock.now() - kubelet.lastActiveAt > limitMs ? 'sync Loop took longer than expected' : undefined,
    ],
  ]);
  const all = (request: KubeletRequest): KubeletResponse => runAllChecks(checks, request, options);
  return [
    {pattern: '/healthz', handle: async (request) => Promise.resolve(all(request))},
    ...[...checks].map(([name, check]) => ({
      pattern: `/healthz/${name}`,
      handle: async () => Promise.resolve(checkResponse(check())),
    })),
  ];
}

function checkResponse(failure: string | undefined): KubeletResponse {
  return failure === undefined ? textResponse('ok') : errorResponse(500, `internal server error: ${failure}`);
}

function runAllChecks(
  checks: ReadonlyMap<string, HealthCheck>,
  {query}: KubeletRequest,
  {logger, metrics}: Pick<HealthOptions, 'logger' | 'metrics'>,
): KubeletResponse {
  const excluded = new Set(query.getAll('exclude'));
  const results = [...checks]
    .filter(([name]) => !excluded.has(name))
    .map(([name, check]) => ({name, failure: check()}));
  for (const {name, failure} of results) metrics.health.recordCheck(name, failure === undefined);
  const failed = results.filter(({failure}) => failure !== undefined);
  const lines = results.map(({name, failure}) =>
    failure === undefined ? `[+]${name} ok\n` : `[-]${name} failed: reason withheld\n`,
  );
  if (failed.length === 0)
    return textResponse(query.has('verbose') ? `${lines.join('')}healthz check passed\n` : 'ok');
  const log = logger.forFile('health-routes.ts');
  for (const {name, failure} of failed) log.info(`healthz check failed: ${name}`, {err: failure});
  return errorResponse(500, `${lines.join('')}healthz check failed`);
}
