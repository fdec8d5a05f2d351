import type {Clock} from '../../../base/clock.js';
import type {Logger} from '../../../base/logger.js';
import {goQuote} from '../../../format/go-quote.js';
import type {KubeletMetricsRegistry} from '../../managers/metrics/kubelet-metrics-registry.js';
import {errorResponse, textResponse, type KubeletResponse, type KubeletRequest} from '../kubelet-response.js';
import type {Route} from '../router.js';
import type {ServedKubelet} from '../served-kubelet.js';

/** Health check; returns the failure, or undefined if healthy. */
type HealthCheck = () => string | undefined;

const MIN_SYNC_LOOP_LIMIT_MS = 5 * 60 * 1000;

/** Health checks by name. */
export type HealthChecks = ReadonlyMap<string, HealthCheck>;

/** Dependencies of the kubelet's health checks. */
export interface KubeletChecksOptions {
  readonly kubelet: Pick<ServedKubelet, 'lastActiveAt' | 'healthChecks'>;
  readonly clock: Clock;
  readonly syncFrequencyMs: number;
}

/** Services that report the results of health checks. */
interface HealthReporting {
  readonly logger: Logger;
  readonly metrics: Pick<KubeletMetricsRegistry, 'health'>;
}

const isAlive: HealthCheck = () => undefined;

/** The check of the health port, which passes while the process serves requests (healthz.PingHealthz). */
export const PING_CHECK: HealthChecks = new Map([['ping', isAlive]]);

/** Returns the checks of the main and the read-only port (server.go InstallAuthNotRequiredHandlers). */
export function kubeletChecks({kubelet, clock, syncFrequencyMs}: KubeletChecksOptions): HealthChecks {
  const limitMs = Math.max(MIN_SYNC_LOOP_LIMIT_MS, 2 * syncFrequencyMs);
  return new Map([
    ...PING_CHECK,
    ['log', isAlive],
    [
      'syncloop',
      () =>
        clock.monotonic() - kubelet.lastActiveAt > limitMs
          ? 'sync Loop took longer than expected'
          : undefined,
    ],
    ...kubelet.healthChecks.map(({name, failure}) => [name, failure] as const),
  ]);
}

/** Returns the routes of /healthz and of each check (apiserver healthz.InstallHandler). */
export function healthRoutes(checks: HealthChecks, reporting: HealthReporting): readonly Route[] {
  const all = (request: KubeletRequest): KubeletResponse => runAllChecks(checks, request, reporting);
  return [
    {pattern: '/healthz', registeredAs: 'exact', handle: async (request) => Promise.resolve(all(request))},
    ...[...checks].map(([name, check]) => ({
      pattern: `/healthz/${name}`,
      registeredAs: 'exact' as const,
      handle: async () => Promise.resolve(checkResponse(check())),
    })),
  ];
}

function checkResponse(failure: string | undefined): KubeletResponse {
  return failure === undefined ? textResponse('ok') : errorResponse(500, `internal server error: ${failure}`);
}

function runAllChecks(
  checks: HealthChecks,
  {query}: KubeletRequest,
  {logger, metrics}: HealthReporting,
): KubeletResponse {
  const excluded = new Set(query.getAll('exclude'));
  const lines: string[] = [];
  const failed: string[] = [];
  const log = logger.forFile('health-routes.ts');
  for (const [name, check] of checks) {
    if (excluded.delete(name)) {
      lines.push(`[+]${name} excluded: ok\n`);
      continue;
    }
    const failure = check();
    metrics.health.recordCheck(name, failure === undefined);
    lines.push(failure === undefined ? `[+]${name} ok\n` : `[-]${name} failed: reason withheld\n`);
    if (failure === undefined) continue;
    failed.push(name);
    log.info(`healthz check failed: ${name}`, {err: failure});
  }
  if (excluded.size > 0) {
    const names = [...excluded].toSorted().map(goQuote).join(',');
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}\n`);
  }
  if (failed.length > 0) return errorResponse(500, `${lines.join('')}healthz check failed`);
  return textResponse(query.has('verbose') ? `${lines.join('')}healthz check passed\n` : 'ok');
}
