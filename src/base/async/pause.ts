import {LONGEST_TIMER_MS, type Clock} from '../clock.js';

/** Shortest pause, in ms: a loop that finds nothing to do costs less than a hundredth of a processor. */
const SHORTEST_PAUSE_MS = 10;

/**
 * Waits before the next turn of a loop. However the time is computed, also if it is 0, negative or NaN, a loop pauses and lets
 * timers, sockets and signals have their turn. Rejects with the signal's reason if it aborts first.
 */
export async function pause(clock: Pick<Clock, 'sleep'>, ms: number, signal?: AbortSignal): Promise<void> {
  await clock.sleep(toPauseMs(ms), signal);
}

/** Returns the time of a pause: at least 10 ms, at most the longest timer. */
export function toPauseMs(ms: number): number {
  return ms > SHORTEST_PAUSE_MS ? Math.min(ms, LONGEST_TIMER_MS) : SHORTEST_PAUSE_MS;
}
