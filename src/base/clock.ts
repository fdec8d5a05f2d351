import {setTimeout as delay} from 'node:timers/promises';

/** Time as a dependency, so that tests own it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
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

/** A whole random number in [0, 2^32), as a dependency. */
export type RandomSource = () => number;

/** The default randomness; for names, never for secrets. */
export const systemRandom: RandomSource = () => Math.floor(Math.random() * 2 ** 32);
