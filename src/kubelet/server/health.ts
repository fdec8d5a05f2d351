import type {Clock} from '../../base/clock.js';
import type {Logger} from '../../base/logger.js';
import type {KubeletRegistry} from '../metrics/kubelet-registry.js';
import {plainError, text, type Answer, type KubeletRequest} from './answer.js';
import type {Route} from './routes.js';
import type {ServedKubelet} from './served-kubelet.js';

/** Says why something isn't well; undefined when it is. */
type HealthCheck = () => string | undefined;

const LEAST_LOOP_LIMIT_MS = 5 * 60 * 1000;

/** What health is judged by. */
export interface HealthOptions {
  readonly kubelet: Pick<ServedKubelet, 'lastActiveAt'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly syncFrequencyMs: number;
  readonly metrics: Pick<KubeletRegistry, 'health'>;
}

/** /healthz and one path for each check (apiserver healthz). */
export function healthRoutes(options: HealthOptions): readonly Route[] {
  const {kubelet, clock, syncFrequencyMs} = options;
  const limitMs = Math.max(LEAST_LOOP_LIMIT_MS, 2 * syncFrequencyMs);
  const checks: ReadonlyMap<string, HealthCheck> = new Map([
    ['ping', () => undefined],
    ['log', () => undefined],
    [
      'syncloop',
      () =>
        clock.now() - kubelet.lastActiveAt > limitMs ? 'sync Loop took longer than expected' : undefined,
    ],
  ]);
  const all = (request: KubeletRequest): Answer => allChecks(checks, request, options);
  return [
    {pattern: '/healthz', handle: async (request) => Promise.resolve(all(request))},
    ...[...checks].map(([name, check]) => ({
      pattern: `/healthz/${name}`,
      handle: async () => Promise.resolve(oneCheck(check())),
    })),
  ];
}

function oneCheck(fault: string | undefined): Answer {
  return fault === undefined ? text('ok') : plainError(500, `internal server error: ${fault}`);
}

function allChecks(
  checks: ReadonlyMap<string, HealthCheck>,
  {query}: KubeletRequest,
  {logger, metrics}: Pick<HealthOptions, 'logger' | 'metrics'>,
): Answer {
  const excluded = new Set(query.getAll('exclude'));
  const results = [...checks]
    .filter(([name]) => !excluded.has(name))
    .map(([name, check]) => ({name, fault: check()}));
  for (const {name, fault} of results) metrics.health.checked(name, fault === undefined);
  const failed = results.filter(({fault}) => fault !== undefined);
  const lines = results.map(({name, fault}) =>
    fault === undefined ? `[+]${name} ok\n` : `[-]${name} failed: reason withheld\n`,
  );
  if (failed.length === 0)
    return text(query.has('verbose') ? `${lines.join('')}healthz check passed\n` : 'ok');
  for (const {name, fault} of failed) logger.info(`healthz check failed: ${name}`, {err: fault});
  return plainError(500, `${lines.join('')}healthz check failed`);
}
