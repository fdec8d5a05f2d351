/** Times at which something has to be decided again. */
export class CheckTimes {
  #nextMs = Number.POSITIVE_INFINITY;

  /** Adds a time in ms since the epoch. */
  add(atMs: number): void {
    this.#nextMs = Math.min(this.#nextMs, atMs);
  }

  /** Returns the time until the next check, at most `maxMs`. */
  sleepMs(nowMs: number, maxMs: number): number {
    return Math.min(maxMs, Math.max(0, this.#nextMs - nowMs));
  }
}
