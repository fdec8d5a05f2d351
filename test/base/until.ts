import {setTimeout as delay} from 'node:timers/promises';
import {stallTolerantTimer} from './stall-tolerant-timer.mjs';
import {timeBudget} from './time-budget.js';

/** Timeout of `until`: long enough for a machine ten times slower, since it only ends tests that would never end. */
const TIMEOUT_MS = timeBudget(300_000);
const SPIN_MS = 50;
/** Pause after a check as a multiple of its duration: checks that call a runtime or a program use processors too. */
const PAUSE_FACTOR = 6;

/**
 * Resolves when the condition holds. Rejects after a timeout with a description of the condition: a loop that
 * continued after a failed test would hang the run.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  describe: () => string = () => condition.toString(),
): Promise<void> {
  const hasTimedOut = stallTolerantTimer(TIMEOUT_MS);
  const hasSpun = stallTolerantTimer(SPIN_MS);
  for (;;) {
    const startedMs = performance.now();
    if (await condition()) return;
    if (hasTimedOut()) throw new Error(`waited ${TIMEOUT_MS / 1000} s for ${describe()}`);
    // Other tests and processes need the processor to make the condition true.
    if (hasSpun()) await delay(Math.max(1, PAUSE_FACTOR * (performance.now() - startedMs)));
    else await new Promise((resolve) => setImmediate(resolve));
  }
}
