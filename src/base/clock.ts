import {setTimeout as delay} from 'node:timers/promises';

/** The longest timer that Node.js supports, in ms. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Source of time, injected so that tests control it. */
export interface Clock {
  /** Returns the time in ms since the epoch. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason if it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    try {
      await delay(ms, undefined, signal === undefined ? {} : {signal});
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  },
};

/**
 * Reports whether a wait of `ms` that ends at `endsAt` continues at `now`. It is over if more than `ms` are left, because
 * the clock was set back.
 */
export function isWaiting(endsAt: number, ms: number, now: number): boolean {
  return now < endsAt && endsAt - now <= ms;
}

/** Returns a random integer in [0, 2^32); injected so that tests control it. */
export type RandomSource = () => number;

/** The default source of randomness. Use it for names, never for secrets. */
export const systemRandom: RandomSource = () => Math.floor(Math.random() * 2 ** 32);
