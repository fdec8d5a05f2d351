import type {Clock} from '../../../base/clock.js';
import {finishesWithin} from '../../../base/async/deadline.js';

/** Name with the meaning that any file of the directory may have changed. */
export const ALL_PATHS = '';

/** Names of changed files, collected for one consumer. */
export class ChangedPaths {
  #names = new Set<string>();
  #count = 0;
  #wake: (() => void) | undefined;

  /** Total number of changes. */
  get changeCount(): number {
    return this.#count;
  }

  add(name: string): void {
    this.#names.add(name);
    this.#count += 1;
    this.#wake?.();
  }

  /** Returns the names that have changed since the last call. */
  take(): ReadonlySet<string> {
    const names = this.#names;
    this.#names = new Set();
    return names;
  }

  /** Waits for a change, for `ms` at most. Resolves with whether there was one; rejects with the signal's reason. */
  async waitForChange(ms: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
    const finished = new AbortController();
    try {
      return await finishesWithin(
        this.#change(AbortSignal.any([signal, finished.signal])),
        ms,
        clock,
        signal,
      );
    } finally {
      finished.abort();
    }
  }

  async #change(signal: AbortSignal): Promise<void> {
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
