/** A live feed with any number of listeners; each sees what is published after it began to listen. */
export class Feed<T> {
  readonly #listeners = new Set<(item: T) => void>();

  get listeners(): number {
    return this.#listeners.size;
  }

  publish(item: T): void {
    for (const listener of this.#listeners) listener(item);
  }

  /** What is published from now on, until `signal` aborts. */
  listen(signal: AbortSignal): AsyncIterable<T> {
    const waiting: T[] = [];
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
