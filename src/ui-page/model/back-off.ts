/** First and longest pause before a lost connection is opened again, in ms. */
const FIRST_MS = 500;
const MAX_MS = 15_000;

/** Returns the pause before the next attempt in ms, after a number of failures in a row, the first being 1. */
export function backOffMs(failures: number): number {
  return Math.min(FIRST_MS * 2 ** (failures - 1), MAX_MS);
}
