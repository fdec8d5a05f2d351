import type {Clock} from '../base/clock.js';

/** What a promise comes to, or undefined when that takes longer than `ms`. */
export async function within<T>(ms: number, clock: Clock, work: Promise<T>): Promise<T | undefined> {
  const limit = new AbortController();
  try {
    return await Promise.race([work, clock.sleep(ms, limit.signal).then(() => undefined)]);
  } finally {
    limit.abort();
  }
}
