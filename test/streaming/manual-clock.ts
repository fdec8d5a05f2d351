import type {Clock} from '../../src/base/clock.js';

/** A clock that a test moves; it wakes who has slept long enough. */
export class ManualClock implements Clock {
  #now = 0;
  #ahead = 0;
  #sleepers: {readonly until: number; readonly wake: () => void}[] = [];

  now(): number {
    return this.#now + this.#ahead;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const abort = (): void => {
        this.#sleepers = this.#sleepers.filter((one) => one !== sleeper);
        reject(signal?.reason as Error);
      };
      const wake = (): void => {
        signal?.removeEventListener('abort', abort);
        resolve();
      };
      const sleeper = {until: this.#now + ms, wake};
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', abort);
    });
  }

  /** How many are asleep. */
  get sleeping(): number {
    return this.#sleepers.length;
  }

  /** Puts the clock forward or back; who sleeps sleeps as long as before. */
  jump(ms: number): void {
    this.#ahead += ms;
  }

  /** Lets time pass, and whoever wakes do what can be done at once. */
  async advance(ms: number): Promise<void> {
    this.#now += ms;
    const due = this.#sleepers.filter(({until}) => until <= this.#now);
    this.#sleepers = this.#sleepers.filter(({until}) => until > this.#now);
    for (const {wake} of due) wake();
    await new Promise((resolve) => setImmediate(resolve));
  }
}
