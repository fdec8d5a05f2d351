import type {Clock} from '../../base/clock.js';

interface Waiter {
  readonly deadline: number;
  readonly expire: () => void;
}

/** Waits a limited time for results that usually arrive immediately: all waits share one timer. */
export class SharedDeadline {
  readonly #limitMs: number;
  readonly #clock: Clock;
  /** Waiters, the oldest first. */
  readonly #waiters = new Set<Waiter>();
  readonly #ended = new AbortController();
  #watching = false;

  constructor(limitMs: number, clock: Clock) {
    this.#limitMs = limitMs;
    this.#clock = clock;
  }

  /** Resolves with the result of `work`, or with undefined after the time limit. */
  async wait<T>(work: Promise<T>): Promise<T | undefined> {
    let waiter: Waiter | undefined;
    const expired = new Promise<undefined>((resolve) => {
      const expire = (): void => {
        resolve(undefined);
      };
      waiter = {deadline: this.#clock.monotonic() + this.#limitMs, expire};
      this.#waiters.add(waiter);
    });
    // Rejects only if it is closed.
    if (!this.#watching) this.#watch().catch(() => undefined);
    try {
      return await Promise.race([work, expired]);
    } finally {
      if (waiter !== undefined) this.#waiters.delete(waiter);
    }
  }

  /** Ends all waits with undefined. */
  close(): void {
    this.#ended.abort();
    for (const {expire} of this.#waiters) expire();
  }

  async #watch(): Promise<void> {
    this.#watching = true;
    for (let [first] = this.#waiters; first !== undefined; [first] = this.#waiters) {
      await this.#clock.sleep(Math.max(1, first.deadline - this.#clock.monotonic()), this.#ended.signal);
      for (const waiter of this.#waiters) {
        if (waiter.deadline > this.#clock.monotonic()) break;
        this.#waiters.delete(waiter);
        waiter.expire();
      }
    }
    this.#watching = false;
  }
}
