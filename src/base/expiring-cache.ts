import type {Clock} from './clock.js';

/** A limited number of values, each for a time (apimachinery LRUExpireCache). The value that was used least recently is dropped. */
export class ExpiringCache<T> {
  readonly #entries = new Map<string, {readonly value: T; readonly expiresAt: number}>();
  readonly #maxSize: number;
  readonly #clock: Pick<Clock, 'monotonic'>;

  constructor(maxSize: number, clock: Pick<Clock, 'monotonic'>) {
    this.#maxSize = maxSize;
    this.#clock = clock;
  }

  /** Returns the value; undefined if it is missing or expired. */
  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    if (entry.expiresAt <= this.#clock.monotonic()) return undefined;
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Stores a value for a time in ms; not at all if the time is zero. */
  set(key: string, value: T, ttlMs: number): void {
    this.#entries.delete(key);
    if (ttlMs <= 0) return;
    this.#entries.set(key, {value, expiresAt: this.#clock.monotonic() + ttlMs});
    for (const [oldest] of this.#entries) {
      if (this.#entries.size <= this.#maxSize) return;
      this.#entries.delete(oldest);
    }
  }
}
