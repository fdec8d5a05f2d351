import type {Clock} from '../../base/clock.js';

interface Waiter {
  readonly until: number;
  readonly giveUp: () => void;
}

/** Waits a limited time for things that nearly always come at once: all waits share one timer. */
export class Patience {
  readonly #limitMs: number;
  readonly #clock: Clock;
  /** The longest-waiting first. */
  readonly #waiters = new Set<Waiter>();
  readonly #ended = new AbortController();
  #watching = false;

  constructor(limitMs: number, clock: Clock) {
    this.#limitMs = limitMs;
    this.#clock = clock;
  }

  /** What a promise comes to, or undefined when that takes too long. */
  async wait<T>(work: Promise<T>): Promise<T | undefined> {
    let waiter: Waiter | undefined;
    const late = new Promise<undefined>((resolve) => {
      const giveUp = (): void => {
        resolve(undefined);
      };
      waiter = {until: this.#clock.now() + this.#limitMs, giveUp};
      this.#waiters.add(waiter);
    });
    // Ends only by the end of it all.
    if (!this.#watching) this.#watch().catch(() => undefined);
    try {
      return await Promise.race([work, late]);
    } finally {
      if (waiter !== undefined) this.#waiters.delete(waiter);
    }
  }

  /** Nobody is waited for any more. */
  close(): void {
    this.#ended.abort();
    for (const {giveUp} of this.#waiters) giveUp();
  }

  async #watch(): Promise<void> {
    this.#watching = true;
    for (let [first] = this.#waiters; first !== undefined; [first] = this.#waiters) {
      await this.#clock.sleep(Math.max(1, first.until - this.#clock.now()), this.#ended.signal);
      for (const waiter of this.#waiters) {
        if (waiter.until > this.#clock.now()) break;
        this.#waiters.delete(waiter);
        waiter.giveUp();
      }
    }
    this.#watching = false;
  }
}
