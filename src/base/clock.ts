import {onAbort} from './async/abort-callbacks.js';

/** The longest timer that Node.js supports, in ms. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Source of time, injected so that tests control it. */
export interface Clock {
  /** Returns the time in ms since the epoch, for timestamps. It jumps when the machine's clock is set. */
  now(): number;
  /** Returns the time in whole ms since an arbitrary moment, for durations. It never jumps. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason if it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  // performance.now() would load a module of Node.js in every command.
  monotonic: () => Number(process.hrtime.bigint() / 1_000_000n),
  sleep: async (ms, signal) => {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      let forget = (): void => undefined;
      const timeout = setTimeout(() => {
        forget();
        resolve();
      }, ms);
      if (signal === undefined) return;
      forget = onAbort(signal, () => {
        clearTimeout(timeout);
        reject(signal.reason as Error);
      });
    });
  },
};

/** Returns the timestamp, in ms since the epoch, of a moment of the monotonic clock, as the clock is set now. */
export function timestampOf(clock: Pick<Clock, 'now' | 'monotonic'>, monotonicMs: number): number {
  return Math.round(clock.now() + monotonicMs - clock.monotonic());
}

/** Returns a random integer in [0, 2^32); injected so that tests control it. */
export type RandomSource = () => number;

/** The default source of randomness. Use it for names, never for secrets. */
export const systemRandom: RandomSource = () => Math.floor(Math.random() * 2 ** 32);
