import {CallbackAbortController} from './abort-callbacks.js';
import {LONGEST_TIMER_MS, type Clock} from '../clock.js';
import {anySignal} from './any-signal.js';

/** A time limit. Disposing of it cancels the timer. */
export interface Deadline extends Disposable {
  /** Aborts when the time limit is reached; never aborts without a limit. */
  readonly signal: AbortSignal;
}

/** Creates a deadline `ms` milliseconds from now, or none for undefined. `reason` creates the signal's abort reason. */
export function createDeadline(clock: Clock, ms: number | undefined, reason?: () => Error): Deadline {
  const reached = new CallbackAbortController();
  const disposed = new CallbackAbortController();
  if (ms !== undefined)
    sleepLong(clock, ms, disposed.signal).then(
      () => {
        reached.abort(reason?.());
      },
      () => undefined, // disposed first
    );
  return {
    signal: reached.signal,
    [Symbol.dispose]: () => {
      disposed.abort();
    },
  };
}

/** Resolves after `ms`, which may exceed the longest timer; rejects with the signal's reason if it aborts first. */
export async function sleepLong(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  for (let left = ms; left > 0; left -= LONGEST_TIMER_MS)
    await clock.sleep(Math.min(left, LONGEST_TIMER_MS), signal);
}

/**
 * Waits for the work for at most `ms` and reports whether it finished in time; unfinished work continues. Rejects if
 * the work rejects, and with the signal's reason.
 */
export async function finishesWithin(
  work: Promise<unknown>,
  ms: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<boolean> {
  const decided = new CallbackAbortController();
  using either = anySignal(signal, decided.signal);
  const timeUp = sleepLong(clock, ms, either.signal).then(() => false);
  try {
    return await Promise.race([work.then(() => true), timeUp]);
  } finally {
    decided.abort();
  }
}
