import {setTimeout as delay} from 'node:timers/promises';

/** A clock on which time passes `factor` times as fast since `origin`, the same in all processes. */
export function acceleratedClock(origin, factor) {
  return {
    now: () => origin + (Date.now() - origin) * factor,
    sleep: async (ms, signal) => {
      try {
        await delay(ms / factor, undefined, signal === undefined ? {} : {signal});
      } catch (error) {
        signal?.throwIfAborted();
        throw error;
      }
    },
  };
}
