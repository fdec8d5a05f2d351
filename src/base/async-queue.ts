/** A first-in first-out queue between those who push and one who reads. */
export class AsyncQueue<T> {
  readonly #capacity: number;
  #items: T[] = [];
  /** How many items at the front have been taken: they are cut off together, so that taking one costs no copy. */
  #taken = 0;
  #wake: (() => void) | undefined;

  /** Without a capacity it takes everything. */
  constructor(capacity = Number.POSITIVE_INFINITY) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#items.length - this.#taken;
  }

  /** False when the queue is full: the item is not taken. */
  push(item: T): boolean {
    if (this.size >= this.#capacity) return false;
    this.#items.push(item);
    this.#wake?.();
    return true;
  }

  /** The next item; waits for one, and rejects with the signal's reason when it aborts first. For one reader. */
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
    signal?.addEventListener('abort', stopWaiting, {once: true});
    await woken;
    this.#wake = undefined;
    signal?.removeEventListener('abort', stopWaiting);
    signal?.throwIfAborted();
  }
}
