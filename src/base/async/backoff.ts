/** Delays per key that double up to a maximum and expire after a quiet time (client-go flowcontrol.Backoff). */
export class Backoff {
  readonly #initialMs: number;
  readonly #maxMs: number;
  readonly #entries = new Map<string, {delayMs: number; lastUpdate: number}>();

  /** Creates a back-off whose entries expire twice `maxMs` after their last update. */
  constructor(initialMs: number, maxMs: number) {
    this.#initialMs = initialMs;
    this.#maxMs = maxMs;
  }

  /** Returns the current delay of the key, in ms; 0 if there is none. */
  get(key: string): number {
    return this.#entries.get(key)?.delayMs ?? 0;
  }

  /**
   * Starts or doubles the key's delay after an event at `eventTime` that is handled at `now`, both in ms since the
   * epoch. The entry expires relative to `now`, not to `eventTime`.
   */
  next(key: string, eventTime: number, now: number): void {
    const entry = this.#entries.get(key);
    const delayMs =
      entry === undefined || this.#expired(entry.lastUpdate, eventTime)
        ? this.#initialMs
        : Math.min(entry.delayMs * 2, this.#maxMs);
    this.#entries.set(key, {delayMs, lastUpdate: now});
  }

  /**
   * Returns when the key's wait after an event at `eventTime` ends, in ms since the epoch; undefined if it need not
   * wait at `now`. An event after `now` means that the clock was set back: nothing waits until the clock has caught up.
   */
  waitUntil(key: string, eventTime: number, now: number): number | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || this.#expired(entry.lastUpdate, eventTime)) return undefined;
    const until = eventTime + entry.delayMs;
    return eventTime <= now && now < until ? until : undefined;
  }

  #expired(lastUpdate: number, eventTime: number): boolean {
    return eventTime - lastUpdate > 2 * this.#maxMs;
  }
}
