import {onAbort} from './abort-callbacks.js';

/** A first-in, first-out queue with any number of writers and one reader. */
export class AsyncQueue<T> {
  readonly #capacity: number;
  #items: T[] = [];
  /** Number of items read at the front; they are removed together, so that reading one item copies nothing. */
  #taken = 0;
  #wake: (() => void) | undefined;

  /** Creates a queue that holds at most `capacity` items; unbounded by default. */
  constructor(capacity = Number.POSITIVE_INFINITY) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#items.length - this.#taken;
  }

  /** Adds the item; returns false and drops it if the queue is full. */
  push(item: T): boolean {
    if (this.size >= this.#capacity) return false;
    this.#items.push(item);
    this.#wake?.();
    return true;
  }

  /**
   * Resolves with the next item, waiting for one; rejects with the signal's reason if it aborts first. Single reader
   * only.
   */
  async next(signal?: AbortSignal): Promise<T> {
    while (this.size === 0) await this.#filled(signal);
    const item = this.#items[this.#taken] as T;
    this.#taken += 1;
    if (this.#taken > 1024 || this.#taken === this.#items.length) {
      this.#items = this.#items.slice(this.#taken);
      this.#taken = 0;
    }
    return item;
  }

  async #filled(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    let stopWaiting = (): void => undefined;
    const woken = new Promise<void>((resolve) => {
      stopWaiting = resolve;
    });
    this.#wake = stopWaiting;
    const forget = signal && onAbort(signal, stopWaiting);
    await woken;
    this.#wake = undefined;
    forget?.();
    signal?.throwIfAborted();
  }
}
