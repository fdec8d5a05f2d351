interface Delay {
  readonly delayMs: number;
  readonly lastUpdate: number;
}

/** Delay of a key, and the one before its last update; undefined for a new key. */
interface Entry extends Delay {
  readonly previous: Delay | undefined;
}

/** Longest wait for a delay, as a multiple of it: pod workers wake up late. */
const LATEST = 2;

/** Delays per key that double up to a maximum and expire after a quiet time (client-go flowcontrol.Backoff). */
export class Backoff {
  readonly #initialMs: number;
  readonly #maxMs: number;
  readonly #expiryMs: number;
  readonly #entries = new Map<string, Entry>();

  /** Creates a back-off whose entries expire `expiryMs` after their last update, by default twice `maxMs`. */
  constructor(initialMs: number, maxMs: number, expiryMs = 2 * maxMs) {
    this.#initialMs = initialMs;
    this.#maxMs = maxMs;
    this.#expiryMs = expiryMs;
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
    this.#removeExpired(now);
    // Entries are in the order of their last updates.
    this.#entries.delete(key);
    this.#entries.set(key, {
      delayMs,
      lastUpdate: now,
      previous: entry && {delayMs: entry.delayMs, lastUpdate: entry.lastUpdate},
    });
  }

  /**
   * Sets the delay of a key after an event that was followed by a wait of `waitedMs` and handled at `now`: double what fits the
   * wait, as `next` would have set it. A wait much longer than the maximum had another cause.
   */
  restore(key: string, waitedMs: number, now: number): void {
    let delayMs = this.#initialMs;
    if (waitedMs <= LATEST * this.#maxMs)
      while (delayMs <= waitedMs && delayMs < this.#maxMs) delayMs = Math.min(2 * delayMs, this.#maxMs);
    this.#entries.set(key, {delayMs, lastUpdate: now, previous: undefined});
  }

  /** Forgets the delay of the key. */
  reset(key: string): void {
    this.#entries.delete(key);
  }

  /** Reverts the last `next` of the key. */
  revert(key: string): void {
    const previous = this.#entries.get(key)?.previous;
    if (previous === undefined) this.#entries.delete(key);
    else this.#entries.set(key, {...previous, previous: undefined});
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

  /** Removes the entries of keys that may never be used again, such as those of deleted pods (Backoff.GC). */
  #removeExpired(now: number): void {
    for (const [key, {lastUpdate}] of this.#entries) {
      if (!this.#expired(lastUpdate, now)) return;
      this.#entries.delete(key);
    }
  }

  #expired(lastUpdate: number, eventTime: number): boolean {
    return eventTime - lastUpdate > this.#expiryMs;
  }
}
