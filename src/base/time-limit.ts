import type {Clock} from './clock.js';

/** Longer waits don't fit into a timer of Node.js. */
const LONGEST_SLEEP_MS = 2 ** 31 - 1;

/** A limit to how long something may take; disposing of it ends the wait. */
export interface TimeLimit extends Disposable {
  /** Aborts when the time is up; never without a limit. */
  readonly signal: AbortSignal;
}

/** A limit of `ms` milliseconds from now on, undefined for none; `reason` makes what its signal is aborted with. */
export function timeLimit(clock: Clock, ms: number | undefined, reason?: () => Error): TimeLimit {
  const reached = new AbortController();
  const disposed = new AbortController();
  if (ms !== undefined)
    sleepLong(clock, ms, disposed.signal).then(
      () => {
        reached.abort(reason?.());
      },
      () => undefined, // disposed of first
    );
  return {
    signal: reached.signal,
    [Symbol.dispose]: () => {
      disposed.abort();
    },
  };
}

/** Resolves after `ms`, however many they are; rejects with the signal's reason when it aborts first. */
export async function sleepLong(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  for (let left = ms; left > 0; left -= LONGEST_SLEEP_MS)
    await clock.sleep(Math.min(left, LONGEST_SLEEP_MS), signal);
}

/**
 * Waits until the work is done, but no longer than `ms`; tells whether it was done in time. What was not goes on.
 * Rejects when the work does, and with the signal's reason.
 */
export async function doneWithin(
  work: Promise<unknown>,
  ms: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<boolean> {
  const decided = new AbortController();
  const timeUp = sleepLong(clock, ms, AbortSignal.any([signal, decided.signal])).then(() => false);
  try {
    return await Promise.race([work.then(() => true), timeUp]);
  } finally {
    decided.abort();
  }
}
