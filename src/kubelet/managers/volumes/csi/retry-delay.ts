/** First delay before a failed operation on a volume is repeated, in ms, which doubles up to the maximum (exponentialbackoff). */
const INITIAL_DELAY_MS = 500;
const MAX_DELAY_MS = 122_000;

/** Returns the delay after another failure, in ms; `last` is that of the failure before, or 0. */
export function nextRetryDelay(last: number): number {
  return last === 0 ? INITIAL_DELAY_MS : Math.min(2 * last, MAX_DELAY_MS);
}
