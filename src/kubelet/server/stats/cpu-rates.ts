/** Cumulative CPU time at a point in time, both in nanoseconds. */
export interface CpuReading {
  readonly timeNanos: bigint;
  readonly usedNanos: bigint;
}

interface Series {
  base: CpuReading;
  rate: bigint | undefined;
}

const SECOND = 1_000_000_000n;
/** Minimum interval of a rate, in nanoseconds; equals cAdvisor's housekeepingInterval in a kubelet. */
const WINDOW = 10n * SECOND;

/**
 * Computes current CPU usage (usageNanoCores) from cumulative readings, which are taken when clients request them.
 * Rates cover the last ten seconds or more; the first ones may cover less, but at least one second, or the time since the start.
 */
export class CpuRates {
  readonly #series = new Map<string, Series>();

  /**
   * Adds a reading and returns the rate in nanocores; undefined until there is a reading at least one second older. The first
   * one covers the time since `startedAtNanos`, when nothing was used yet, if that is known.
   */
  rate(key: string, reading: CpuReading, startedAtNanos?: bigint): bigint | undefined {
    let series = this.#series.get(key);
    if (series === undefined || wasReset(reading, series.base)) {
      const base = startedAtNanos === undefined ? reading : {timeNanos: startedAtNanos, usedNanos: 0n};
      series = {base, rate: undefined};
      this.#series.set(key, series);
    }
    const {base} = series;
    const passed = reading.timeNanos - base.timeNanos;
    if (passed < SECOND || (passed < WINDOW && series.rate !== undefined)) return series.rate;
    const rate = ((reading.usedNanos - base.usedNanos) * SECOND) / passed;
    if (passed >= WINDOW) this.#series.set(key, {base: reading, rate});
    return rate;
  }

  /** Removes all series except those with these keys. */
  retain(keys: ReadonlySet<string>): void {
    for (const key of this.#series.keys()) if (!keys.has(key)) this.#series.delete(key);
  }
}

/** Reports whether the clock went back or the counter restarted. */
function wasReset(reading: CpuReading, base: CpuReading): boolean {
  return reading.timeNanos < base.timeNanos || reading.usedNanos < base.usedNanos;
}
