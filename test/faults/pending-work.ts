import type {Clock} from '../../src/base/clock.js';
import {messageOf} from '../../src/base/errors.js';
import type {Logger} from '../../src/base/logger.js';

/** Number of lines of the log that are remembered. */
const MAX_LINES = 10;
/** Number of callers that are named. */
const MAX_CALLERS = 4;

/** Remembers what a kubelet waits for and its last lines of log, for the message when it does not stop. */
export class PendingWork {
  /** Sleeps in progress, with the place where they began. */
  readonly #sleeps = new Map<symbol, {readonly ms: number; readonly place: Error}>();
  #lines: string[] = [];

  /** Logger that remembers the last lines. */
  readonly logger: Logger = {
    forFile: () => ({
      info: (message) => {
        this.#remember(message);
      },
      error: (error, message) => {
        this.#remember(`${message}: ${messageOf(error)}`);
      },
    }),
  };

  /** Returns a clock whose sleeps are remembered. */
  watchClock(clock: Clock): Clock {
    return {
      ...clock,
      sleep: async (ms, signal) => {
        const key = Symbol('sleep');
        this.#sleeps.set(key, {ms, place: new Error('sleep')});
        try {
          await clock.sleep(ms, signal);
        } finally {
          this.#sleeps.delete(key);
        }
      },
    };
  }

  /** Forgets an earlier kubelet. */
  clear(): void {
    this.#sleeps.clear();
    this.#lines = [];
  }

  /** Returns what is in progress: calls that the caller knows, sleeps, other resources of this process, and the last lines. */
  describe(calls: readonly string[]): readonly string[] {
    return [
      ...calls,
      ...[...this.#sleeps.values()].map(({ms, place}) => `sleep of ${ms} ms in ${callersOf(place)}`),
      ...process.getActiveResourcesInfo(),
      ...this.#lines.map((line) => `log: ${line}`),
    ];
  }

  #remember(line: string): void {
    this.#lines = [...this.#lines.slice(1 - MAX_LINES), line];
  }
}

function callersOf({stack = ''}: Error): string {
  const names = stack.split('\n').flatMap((line) => /^ +at (?:async )?([^ (]+) \(/.exec(line)?.[1] ?? []);
  // The first one is the watched clock.
  return names.slice(1, 1 + MAX_CALLERS).join(' < ');
}
