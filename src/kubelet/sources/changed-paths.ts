import {onAbort} from '../../base/async/abort-callbacks.js';
import {anySignal} from '../../base/async/any-signal.js';
import type {Clock} from '../../base/clock.js';
import {finishesWithin} from '../../base/async/deadline.js';
import {toPauseMs} from '../../base/async/pause.js';

/** Name with the meaning that any file of the directory may have changed. */
export const ALL_PATHS = '';

/** Names of changed files, collected for one consumer. */
export class ChangedPaths {
  #names = new Map<string, number>();
  #count = 0;
  #wake: (() => void) | undefined;

  /** Total number of changes. */
  get changeCount(): number {
    return this.#count;
  }

  /** Adds a change. `isEntryChange` is true if the name was created, removed or moved, not only its content changed. */
  add(name: string, isEntryChange = false): void {
    this.#names.set(name, (this.#names.get(name) ?? 0) + (isEntryChange ? 1 : 0));
    this.#count += 1;
    this.#wake?.();
  }

  /** Returns the names that have changed since the last call, with the number of their entry changes. */
  take(): ReadonlyMap<string, number> {
    const names = this.#names;
    this.#names = new Map();
    return names;
  }

  /** Pauses for `ms`, or until there is a change. Resolves with whether there was one; rejects with the signal's reason. */
  async waitForChange(ms: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
    const finished = new AbortController();
    using either = anySignal(signal, finished.signal);
    try {
      return await finishesWithin(this.#change(either.signal), toPauseMs(ms), clock, signal);
    } finally {
      finished.abort();
    }
  }

  async #change(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#names.size > 0) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        forget();
        this.#wake = undefined;
        resolve();
      };
      const forget = onAbort(signal, wake);
      this.#wake = wake;
    });
    signal.throwIfAborted();
  }
}
