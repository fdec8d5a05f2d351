import {setTimeout as delay} from 'node:timers/promises';
import {patience} from './stall-tolerant-timer.mjs';

/** End-to-end tests have more: the machine's disk may stand still for seconds. */
const PATIENCE_MS = Number(process.env['KCRI_TEST_PATIENCE_MS'] ?? 20_000);
const SPIN_MS = 50;

/**
 * Resolves when the condition holds. It gives up in time for the test to fail, and tells then for what it waited: a
 * loop that goes on would hang the run.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: () => string = () => condition.toString(),
): Promise<void> {
  const isOver = patience(PATIENCE_MS);
  const hasSpun = patience(SPIN_MS);
  while (!(await condition())) {
    if (isOver()) throw new Error(`waited ${PATIENCE_MS / 1000} s for ${what()}`);
    // Other tests and processes need the processor to make the condition true.
    if (hasSpun()) await delay(1);
    else await new Promise((resolve) => setImmediate(resolve));
  }
}
