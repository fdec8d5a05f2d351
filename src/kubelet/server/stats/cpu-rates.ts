/** How much CPU time something has used until then; both in nanoseconds. */
export interface CpuReading {
  readonly timeNanos: bigint;
  readonly usedNanos: bigint;
}

interface Series {
  base: CpuReading;
  rate: bigint | undefined;
}

const SECOND = 1_000_000_000n;
/** As long as a kubelet's cAdvisor waits between two looks (housekeepingInterval). */
const WINDOW = 10n * SECOND;

/**
 * How much CPU things use now (usageNanoCores), from what they have used at the times at which somebody asks: over the
 * last ten seconds or more, and at first over what there is of them.
 */
export class CpuRates {
  readonly #series = new Map<string, Series>();

  /** Billionths of a core; undefined while nothing is known of at least a second before. */
  rate(key: string, reading: CpuReading): bigint | undefined {
    const series = this.#series.get(key);
    if (series === undefined || isBefore(reading, series.base)) {
      this.#series.set(key, {base: reading, rate: undefined});
      return undefined;
    }
    const {base} = series;
    const passed = reading.timeNanos - base.timeNanos;
    if (passed < SECOND || (passed < WINDOW && series.rate !== undefined)) return series.rate;
    const rate = ((reading.usedNanos - base.usedNanos) * SECOND) / passed;
    if (passed >= WINDOW) this.#series.set(key, {base: reading, rate});
    return rate;
  }

  /** Forgets all others. */
  keep(keys: ReadonlySet<string>): void {
    for (const key of this.#series.keys()) if (!keys.has(key)) this.#series.delete(key);
  }
}

/** A clock that was put back, or something that has begun anew. */
function isBefore(reading: CpuReading, base: CpuReading): boolean {
  return reading.timeNanos < base.timeNanos || reading.usedNanos < base.usedNanos;
}
