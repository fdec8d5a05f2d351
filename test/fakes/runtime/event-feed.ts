/**
 * A live feed with any number of listeners; each sees what is published after it began to listen. One that keeps
 * gives what was published while nobody listened to the next listener, as containerd does with its events.
 */
export class EventFeed<T> {
  readonly #listeners = new Set<(item: T) => void>();
  readonly #kept: T[] = [];
  readonly #keeps: boolean;
  #ended = new AbortController();

  constructor(keeps = false) {
    this.#keeps = keeps;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /** Whether anybody gets what is published now. */
  get hasRecipient(): boolean {
    return this.#keeps || this.#listeners.size > 0;
  }

  publish(item: T): void {
    if (this.#keeps && this.#listeners.size === 0) this.#kept.push(item);
    for (const listener of this.#listeners) listener(item);
  }

  /** Ends what every listener of now gets, after what was published so far. */
  end(): void {
    this.#ended.abort();
    this.#ended = new AbortController();
  }

  /** What is published from now on, until `caller` aborts or the feed is ended. */
  listen(caller: AbortSignal): AsyncIterable<T> {
    const signal = AbortSignal.any([caller, this.#ended.signal]);
    const waiting: T[] = this.#kept.splice(0);
    let wake: (() => void) | undefined;
    const wakeUp = (): void => wake?.();
    const listener = (item: T): void => {
      waiting.push(item);
      wakeUp();
    };
    this.#listeners.add(listener);
    signal.addEventListener('abort', wakeUp, {once: true});
    const stop = (): boolean => this.#listeners.delete(listener);
    const nextWake = (): Promise<void> => new Promise((resolve) => (wake = resolve));
    return (async function* () {
      try {
        for (;;) {
          yield* waiting.splice(0);
          if (signal.aborted) return;
          if (waiting.length === 0) await nextWake();
        }
      } finally {
        stop();
      }
    })();
  }
}
