/** Delays that double per key up to a cap and are forgotten after a time (client-go flowcontrol.Backoff). */
export class Backoff {
  readonly #initialMs: number;
  readonly #maxMs: number;
  readonly #entries = new Map<string, {delayMs: number; lastUpdate: number}>();

  /** An entry is forgotten when nothing was added for twice `maxMs`. */
  constructor(initialMs: number, maxMs: number) {
    this.#initialMs = initialMs;
    this.#maxMs = maxMs;
  }

  /** The delay in force for the key, in milliseconds; 0 without one. */
  get(key: string): number {
    return this.#entries.get(key)?.delayMs ?? 0;
  }

  /**
   * Starts or doubles the key's delay, because of an event at `eventTime`, which is answered `now` (both ms since the
   * epoch). Whether the entry is forgotten by the next event counts from the answer, not from the event.
   */
  next(key: string, eventTime: number, now: number): void {
    const entry = this.#entries.get(key);
    const delayMs =
      entry === undefined || this.#expired(entry.lastUpdate, eventTime)
        ? this.#initialMs
        : Math.min(entry.delayMs * 2, this.#maxMs);
    this.#entries.set(key, {delayMs, lastUpdate: now});
  }

  /** Until when the key must wait after an event at `eventTime`, or undefined when it need not at `now`. */
  waitUntil(key: string, eventTime: number, now: number): number | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || this.#expired(entry.lastUpdate, eventTime)) return undefined;
    const until = eventTime + entry.delayMs;
    return now < until ? until : undefined;
  }

  #expired(lastUpdate: number, eventTime: number): boolean {
    return eventTime - lastUpdate > 2 * this.#maxMs;
  }
}
