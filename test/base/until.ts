import {setTimeout as delay} from 'node:timers/promises';

/** End-to-end tests have more: the machine's disk may stand still for seconds. */
const PATIENCE_MS = Number(process.env['KCRI_TEST_PATIENCE_MS'] ?? 20_000);
const SPIN_MS = 50;
/** What counts as waiting between two looks: CI's machine may stand still as a whole, for minutes. */
const LONGEST_TURN_MS = 1000;

/**
 * Resolves when the condition holds. It gives up in time for the test to fail, and tells then for what it waited: a
 * loop that goes on would hang the run.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: () => string = () => condition.toString(),
): Promise<void> {
  let waited = 0;
  let last = performance.now();
  while (!(await condition())) {
    const now = performance.now();
    waited += Math.min(now - last, LONGEST_TURN_MS);
    last = now;
    if (waited > PATIENCE_MS) throw new Error(`waited ${PATIENCE_MS / 1000} s for ${what()}`);
    // Other tests and processes need the processor for what is waited for.
    if (waited < SPIN_MS) await new Promise((resolve) => setImmediate(resolve));
    else await delay(1);
  }
}
