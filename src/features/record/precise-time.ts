import type {Clock} from '../../base/clock.js';

/** Difference from the machine's clock, in ms, after which that clock was set. */
const MAX_DIFFERENCE_MS = 5;

/**
 * Returns a function that returns the time in ms since the epoch with microseconds. The clock itself has milliseconds, in
 * which several calls begin and end.
 */
export function preciseTime(clock: Pick<Clock, 'now'>): () => number {
  let offset = clock.now() - performance.now();
  return () => {
    const now = clock.now();
    const precise = offset + performance.now();
    if (Math.abs(precise - now) <= MAX_DIFFERENCE_MS) return precise;
    offset += now - precise;
    return now;
  };
}
