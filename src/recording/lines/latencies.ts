/** Growth of the limits of the buckets: quantiles are exact within one per cent. */
const GROWTH = 1.02;
/** Shortest time that is distinguished, in ms. */
const SHORTEST_MS = 0.001;

/** Distribution of times in bounded memory. */
export class Latencies {
  readonly #counts = new Map<number, number>();
  #total = 0;
  #longest = 0;

  add(ms: number): void {
    const bucket = Math.round(Math.log(Math.max(ms, SHORTEST_MS) / SHORTEST_MS) / Math.log(GROWTH));
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + 1);
    this.#total += 1;
    this.#longest = Math.max(this.#longest, ms);
  }

  /** Returns the time, in ms, that the given share of the times does not exceed; undefined without times. */
  quantile(share: number): number | undefined {
    if (this.#total === 0) return undefined;
    const rank = Math.max(1, Math.ceil(share * this.#total));
    let seen = 0;
    for (const bucket of [...this.#counts.keys()].sort((a, b) => a - b)) {
      seen += this.#counts.get(bucket) ?? 0;
      if (seen >= rank) return Math.min(SHORTEST_MS * GROWTH ** bucket, this.#longest);
    }
    return this.#longest;
  }

  /** Longest time, in ms; undefined without times. */
  get longest(): number | undefined {
    return this.#total === 0 ? undefined : this.#longest;
  }
}
