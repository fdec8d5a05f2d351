import type {Clock} from '../../base/clock.js';
import {doneWithin} from '../../base/time-limit.js';

/** A name that stands for all of a directory. */
export const EVERYTHING = '';

/** Names that have changed, between those who see it and one who asks. */
export class ChangedNames {
  #names = new Set<string>();
  #count = 0;
  #wake: (() => void) | undefined;

  /** How many changes there were in all. */
  get count(): number {
    return this.#count;
  }

  add(name: string): void {
    this.#names.add(name);
    this.#count += 1;
    this.#wake?.();
  }

  /** What has changed since it was last asked. */
  take(): ReadonlySet<string> {
    const names = this.#names;
    this.#names = new Set();
    return names;
  }

  /** Waits until something has changed, `ms` at most: true when it has. Rejects with the signal's reason. */
  async within(ms: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
    const decided = new AbortController();
    try {
      return await doneWithin(this.#some(AbortSignal.any([signal, decided.signal])), ms, clock, signal);
    } finally {
      decided.abort();
    }
  }

  async #some(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#names.size > 0) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake);
        this.#wake = undefined;
        resolve();
      };
      this.#wake = wake;
      signal.addEventListener('abort', wake);
    });
    signal.throwIfAborted();
  }
}
