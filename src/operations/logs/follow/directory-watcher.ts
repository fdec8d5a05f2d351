import {watch, type FSWatcher} from 'node:fs';
import {anySignal} from '../../../base/async/any-signal.js';
import type {Clock} from '../../../base/clock.js';
import {isSystemCallError} from '../../../base/errors.js';

/** Waits for changes in directories; in one that cannot be watched, `next` waits for the timeout. */
export class DirectoryWatcher implements Disposable {
  readonly #watchers: readonly FSWatcher[];
  readonly #clock: Clock;
  #changed = false;
  #wake: (() => void) | undefined;

  constructor(directories: readonly string[], clock: Clock) {
    this.#clock = clock;
    const onChange = (): void => {
      this.#changed = true;
      this.#wake?.();
    };
    this.#watchers = directories.flatMap((directory) => watcherOf(directory, onChange) ?? []);
    // The directory may be removed with the container; the caller polls anyway.
    for (const watcher of this.#watchers) watcher.on('error', onChange);
  }

  /** Waits for a change since the last wait, at most `ms` milliseconds. Rejects with the signal's reason. */
  async next(ms: number, signal: AbortSignal): Promise<void> {
    const done = new AbortController();
    using either = anySignal(signal, done.signal);
    const sleeping = this.#clock.sleep(ms, either.signal);
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

function watcherOf(directory: string, onChange: () => void): FSWatcher | undefined {
  try {
    return watch(directory, onChange);
  } catch (error) {
    // For instance when the inotify instances of the node are exhausted.
    if (isSystemCallError(error)) return undefined;
    throw error;
  }
}
