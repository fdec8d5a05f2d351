/**
 * An event feed with any number of listeners, which receive the events published after they started listening. A
 * buffering feed delivers events published without listeners to the next listener, as containerd does.
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

  /** True if there are listeners. */
  get hasRecipient(): boolean {
    return this.#keeps || this.#listeners.size > 0;
  }

  publish(item: T): void {
    if (this.#keeps && this.#listeners.size === 0) this.#kept.push(item);
    for (const listener of this.#listeners) listener(item);
  }

  /** Ends the streams of all present listeners, after the events published so far. */
  end(): void {
    this.#ended.abort();
    this.#ended = new AbortController();
  }

  /** Yields events published from now on, until `caller` aborts or the feed ends. */
  listen(caller: AbortSignal): AsyncIterable<T> {
    const signal = AbortSignal.any([caller, this.#ended.signal]);
    const waiting: T[] = this.#kept.splice(0);
    let notify: (() => void) | undefined;
    const wakeUpListener = (): void => notify?.();
    const listener = (item: T): void => {
      waiting.push(item);
      wakeUpListener();
    };
    this.#listeners.add(listener);
    signal.addEventListener('abort', wakeUpListener, {once: true});
    const stop = (): boolean => this.#listeners.delete(listener);
    const nextWake = (): Promise<void> => new Promise((resolve) => (notify = resolve));
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
