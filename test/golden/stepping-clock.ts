import type {Clock} from '../../src/base/clock.js';

/** How far the time goes at once: little enough that nothing that is awaited meanwhile is overtaken by a deadline. */
const STEP_MS = 50;

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** What this process waits for that isn't time: files and programs. */
const isWork = (resource: string): boolean => resource.startsWith('FSReq') || resource === 'ProcessWrap';

/**
 * A clock on which seconds pass in an instant, but never while this process is busy: it goes on by a small step when
 * the event loop has come round, so that a slow machine only makes a test slow. Ends with `dispose`.
 */
export class SteppingClock implements Clock, Disposable {
  readonly #sleepers = new Set<Sleeper>();
  readonly #timer: NodeJS.Timeout;
  #now: number;

  readonly #stepMs: number;

  constructor(start: number, stepMs = STEP_MS) {
    this.#now = start;
    this.#stepMs = stepMs;
    this.#timer = setInterval(() => {
      this.#step();
    }, 1);
  }

  now(): number {
    return this.#now;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const end = (): void => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener('abort', aborted);
      };
      const aborted = (): void => {
        end();
        reject(signal?.reason as Error);
      };
      const wake = (): void => {
        end();
        resolve();
      };
      const sleeper: Sleeper = {at: this.#now + ms, wake};
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', aborted);
    });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #step(): void {
    if (process.getActiveResourcesInfo().some(isWork)) return;
    this.#now += this.#stepMs;
    for (const {at, wake} of [...this.#sleepers].toSorted((a, b) => a.at - b.at)) if (at <= this.#now) wake();
  }
}
