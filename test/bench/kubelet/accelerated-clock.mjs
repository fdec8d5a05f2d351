import {setTimeout as delay} from 'node:timers/promises';

/** Returns a clock that runs `factor` times as fast since `origin`. It is the same in all processes. */
export function acceleratedClock(origin, factor) {
  return {
    now: () => origin + (Date.now() - origin) * factor,
    monotonic: () => performance.now() * factor,
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
