import {anySignal} from '../../base/async/any-signal.js';
import {createDeadline} from '../../base/async/deadline.js';
import {WakeableSleep} from '../../base/async/wakeable-sleep.js';
import type {NotFoundError} from '../../operations/resolve/target.js';
import type {RuntimeContext} from '../../cli/command/contexts.js';
import {readTargets, type ReadTargets, type TargetFlagValues} from '../targets/read-targets.js';
import {POLL_MS, WaitTimeoutError} from './wait-rounds.js';

/**
 * Reads targets until every word names one, and flags select one. Reports those that do not exist in time, and returns
 * the others. `timeoutMs` is undefined for no limit. Rejects with KcriError and the signal's reason.
 */
export async function waitForCreation(
  services: RuntimeContext,
  words: readonly string[],
  flags: TargetFlagValues,
  timeoutMs: number | undefined,
): Promise<ReadTargets> {
  const {report, signal, context} = services;
  const sleep = new WakeableSleep(context.clock);
  using deadline = createDeadline(context.clock, timeoutMs);
  for (;;) {
    const isLast = timeoutMs === 0 || deadline.signal.aborted;
    const missing: NotFoundError[] = [];
    const found = await readTargets(services, words, flags, {onMissing: (error) => missing.push(error)});
    if (missing.length === 0) return found;
    if (isLast) {
      for (const {message} of missing)
        report.fail(new WaitTimeoutError(`timed out waiting for the creation: ${message}`));
      return found;
    }
    using either = anySignal(signal, deadline.signal);
    await sleep.sleep(POLL_MS, either.signal);
    signal.throwIfAborted();
  }
}
