/** Factor by which this machine is slower than those for which the time limits of tests are written. */
const FACTOR = Number(process.env['KCRI_TEST_TIME_FACTOR'] ?? 1);

/** Returns a time limit for this machine, in the unit of the one given: it only ends tests that would never end. */
export function timeBudget(limit: number): number {
  return limit * FACTOR;
}
