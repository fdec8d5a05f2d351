import type {UiHistory} from '../protocol.js';

/** Number of samples that are kept of a row: five minutes at the default interval. */
const LONGEST = 150;
const SHORTEST = 20;
/** Number of samples of all rows together: a page with 500 pods gets less than a megabyte of them. */
const MAX_SAMPLES = 30_000;

/** Usage of a row at a time. */
export interface RowUsage {
  readonly cpuPercent: number | null;
  readonly memoryBytes: number | null;
}

/** Value of a row from a sample on; undefined if it was not measured. */
interface Step {
  readonly sample: number;
  readonly usage: RowUsage | undefined;
}

/** Recent usage of each row: the more rows there are, the shorter. Rows whose usage stays the same cost nothing. */
export class RowHistory {
  readonly #timesMs: number[] = [];
  /** Number of the last sample. */
  #sample = -1;
  readonly #steps = new Map<string, Step[]>();

  /** Begins a sample, in which rows have their last usage until it is set. */
  begin(nowMs: number): void {
    this.#sample += 1;
    this.#timesMs.push(nowMs);
    if (this.#timesMs.length > LONGEST) this.#timesMs.shift();
  }

  /** Sets the usage of a row from this sample on; undefined while it is not measured. */
  set(key: string, usage: RowUsage | undefined): void {
    const steps = this.#steps.get(key) ?? [];
    const last = steps.at(-1);
    if (last !== undefined && isEqual(last.usage, usage)) return;
    const sample = this.#sample;
    if (last?.sample === sample) steps.pop();
    steps.push({sample, usage});
    if (steps.length > 2 * LONGEST) steps.splice(0, LONGEST);
    this.#steps.set(key, steps);
  }

  /** Forgets a row. */
  delete(key: string): void {
    this.#steps.delete(key);
  }

  /** All rows, oldest sample first. */
  get rows(): Readonly<Record<string, UiHistory>> {
    const length = Math.min(
      LONGEST,
      Math.max(SHORTEST, Math.floor(MAX_SAMPLES / (this.#steps.size + 1))),
      this.#timesMs.length,
    );
    return Object.fromEntries(
      [...this.#steps].map(([key, steps]) => [key, this.#expand(steps, length)] as const),
    );
  }

  #expand(steps: readonly Step[], length: number): UiHistory {
    const [timesMs, cpuPercent, memoryBytes]: [number[], (number | null)[], (number | null)[]] = [[], [], []];
    let index = 0;
    let usage: RowUsage | undefined;
    for (let back = length - 1; back >= 0; back -= 1) {
      for (; (steps[index]?.sample ?? Infinity) <= this.#sample - back; index += 1)
        usage = steps[index]?.usage;
      if (usage === undefined) continue;
      timesMs.push(this.#timesMs.at(-1 - back) ?? 0);
      cpuPercent.push(usage.cpuPercent);
      memoryBytes.push(usage.memoryBytes);
    }
    return {timesMs, cpuPercent, memoryBytes};
  }
}

function isEqual(a: RowUsage | undefined, b: RowUsage | undefined): boolean {
  return a?.cpuPercent === b?.cpuPercent && a?.memoryBytes === b?.memoryBytes;
}
