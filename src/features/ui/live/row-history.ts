import type {UiHistory} from '../protocol.js';

/** Number of samples that are kept of a row: five minutes at the default interval. */
const LONGEST = 150;
const SHORTEST = 20;
/** Number of samples of all rows together: a page with 500 pods gets less than a megabyte of them. */
const MAX_SAMPLES = 30_000;

/** Usage of a row at a time. */
export interface RowUsage {
  readonly key: string;
  readonly cpuPercent?: number | undefined;
  readonly memoryBytes?: number | undefined;
}

interface Series {
  readonly timesMs: number[];
  readonly cpuPercent: (number | null)[];
  readonly memoryBytes: (number | null)[];
}

/** Recent usage of each row: the more rows there are, the shorter. */
export class RowHistory {
  #series = new Map<string, Series>();

  /** Adds a sample of all rows, and forgets rows that do not exist any more. Rows in `stale` are kept without a sample. */
  record(rows: readonly RowUsage[], stale: ReadonlySet<string>, nowMs: number): void {
    const length = Math.min(LONGEST, Math.max(SHORTEST, Math.floor(MAX_SAMPLES / (rows.length + 1))));
    const before = this.#series;
    this.#series = new Map();
    for (const {key, cpuPercent, memoryBytes} of rows) {
      const series = before.get(key) ?? {timesMs: [], cpuPercent: [], memoryBytes: []};
      this.#series.set(key, series);
      if (stale.has(key)) continue;
      push(series.timesMs, nowMs, length);
      push(series.cpuPercent, cpuPercent ?? null, length);
      push(series.memoryBytes, memoryBytes ?? null, length);
    }
  }

  /** Returns the last known CPU usage of a row; undefined if it is unknown. */
  lastCpu(key: string): number | undefined {
    return this.#series.get(key)?.cpuPercent.at(-1) ?? undefined;
  }

  /** All rows, oldest sample first. */
  get rows(): Readonly<Record<string, UiHistory>> {
    return Object.fromEntries(this.#series);
  }
}

function push<T>(values: T[], value: T, length: number): void {
  values.push(value);
  if (values.length > length) values.splice(0, values.length - length);
}
