import {watch, type FSWatcher} from 'node:fs';
import type {Clock} from '../../base/clock.js';
import {isSystemCallError} from '../../base/errors.js';

/** Tells when something in folders has changed; where one can't be watched, `next` may take its whole time. */
export class FolderChanges implements Disposable {
  readonly #watchers: readonly FSWatcher[];
  readonly #clock: Clock;
  #changed = false;
  #wake: (() => void) | undefined;

  constructor(folders: readonly string[], clock: Clock) {
    this.#clock = clock;
    const notice = (): void => {
      this.#changed = true;
      this.#wake?.();
    };
    this.#watchers = folders.flatMap((folder) => watcherOf(folder, notice) ?? []);
    // The folder may go away with the container; the poll goes on.
    for (const watcher of this.#watchers) watcher.on('error', notice);
  }

  /** Waits for a change since the last wait, at most `ms`. Rejects with the signal's reason. */
  async next(ms: number, signal: AbortSignal): Promise<void> {
    const done = new AbortController();
    const sleeping = this.#clock.sleep(ms, AbortSignal.any([signal, done.signal]));
    this.#wake = () => {
      done.abort();
    };
    if (this.#changed) done.abort();
    try {
      await sleeping;
    } catch (error) {
      if (!done.signal.aborted) throw error;
      signal.throwIfAborted();
    } finally {
      this.#changed = false;
      this.#wake = undefined;
    }
  }

  [Symbol.dispose](): void {
    for (const watcher of this.#watchers) watcher.close();
  }
}

function watcherOf(folder: string, notice: () => void): FSWatcher | undefined {
  try {
    return watch(folder, notice);
  } catch (error) {
    // Such as when the machine's inotify instances are used up.
    if (isSystemCallError(error)) return undefined;
    throw error;
  }
}
