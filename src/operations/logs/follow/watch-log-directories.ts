import {dirname} from 'node:path';
import type {Clock} from '../../../base/clock.js';
import {ifPresent} from '../../../base/fs/if-present.js';
import {LOCAL_LOG_FILES, type LogFiles} from '../log-files.js';
import {POLL_MS} from './follow-options.js';

/** Waits for changes of followed logs. */
export interface LogChanges extends Disposable {
  /** Waits for a change since the last wait, at most until the next check. Rejects with the signal's reason. */
  readonly next: () => Promise<void>;
}

/** Options of watchLogDirectories. */
export interface WatchOptions {
  readonly clock: Clock;
  readonly files?: LogFiles | undefined;
  readonly signal: AbortSignal;
  /** Returns the interval of checks in milliseconds; POLL_MS by default. */
  readonly pollMs?: (() => number) | undefined;
}

/** Watches the directories of logs. */
export async function watchLogDirectories(
  paths: readonly string[],
  {clock, files = LOCAL_LOG_FILES, signal, pollMs = () => POLL_MS}: WatchOptions,
): Promise<LogChanges> {
  const directories = new Set<string>();
  for (const path of paths) directories.add(dirname((await ifPresent(() => files.realpath(path))) ?? path));
  const watcher = await files.watch([...directories], clock);
  return {
    next: async () => {
      await watcher.next(pollMs(), signal);
    },
    [Symbol.dispose]: () => {
      watcher[Symbol.dispose]();
    },
  };
}
