import {abortable} from './abortable.js';

/** Locks by key. Work on several keys holds all of them, and gets them in the order of its calls: there are no deadlocks. */
export class KeyedLock {
  /** Ends of the last work on each key; they never reject. */
  readonly #ends = new Map<string, Promise<unknown>>();

  /** Runs the work when earlier work on its keys has ended. Rejects with the signal's reason if it aborts before that. */
  async run<T>(keys: readonly string[], work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const before = Promise.all(keys.flatMap((key) => this.#ends.get(key) ?? []));
    let release = (): void => undefined;
    const own = new Promise<void>((resolve) => {
      release = resolve;
    });
    // Who gives up waiting must not let others overtake the work before it.
    const end = Promise.all([before, own]);
    for (const key of keys) this.#ends.set(key, end);
    try {
      await (signal === undefined ? before : abortable(before, signal));
      return await work();
    } finally {
      for (const key of keys) if (this.#ends.get(key) === end) this.#ends.delete(key);
      release();
    }
  }
}
