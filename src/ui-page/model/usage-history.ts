import type {LiveState, UiHistory} from '../../features/ui/protocol.js';
import {measuredRows, type LiveModel} from './live-model.js';

/** Number of samples that are kept for each row. */
const HISTORY_LENGTH = 900;

/** Resource whose usage is recorded. */
export type Resource = 'cpu' | 'memory';

interface Series {
  readonly timesMs: number[];
  readonly cpuPercent: (number | null)[];
  readonly memoryBytes: (number | null)[];
}

/** Recent CPU and memory usage of nodes, pods and containers by key, oldest first. */
export class UsageHistory {
  #series = new Map<string, Series>();

  /** Replaces all by what the server recorded. */
  replace(history: LiveState['history']): void {
    this.#series = new Map(Object.entries(history).map(([key, series]) => [key, copyOf(series)]));
  }

  /**
   * Adds a sample of all rows, and forgets rows that do not exist any more. One of the same time as the last, with the
   * measurement of a node that ended later, replaces it.
   */
  record(model: LiveModel): void {
    const rows = [...model.pods.values()].flatMap((pod) => [pod, ...pod.containers]);
    const existing = new Set([...model.nodes.keys(), ...rows.map(({key}) => key)]);
    for (const key of this.#series.keys()) if (!existing.has(key)) this.#series.delete(key);
    for (const {key, cpuPercent, memoryBytes} of measuredRows(model)) {
      const series = this.#series.get(key) ?? {timesMs: [], cpuPercent: [], memoryBytes: []};
      this.#series.set(key, series);
      if (series.timesMs.at(-1) === model.nowMs) dropLast(series);
      series.timesMs.push(model.nowMs);
      series.cpuPercent.push(cpuPercent ?? null);
      series.memoryBytes.push(memoryBytes ?? null);
      if (series.timesMs.length > HISTORY_LENGTH) dropFirst(series);
    }
  }

  /** Returns the samples of a row; undefined if there are none. They change with the next sample. */
  of(key: string): UiHistory | undefined {
    return this.#series.get(key);
  }

  /** Returns the last samples of a row, at most `count`. */
  last(key: string, resource: Resource, count: number): readonly (number | null)[] {
    const series = this.#series.get(key);
    return (resource === 'cpu' ? series?.cpuPercent : series?.memoryBytes)?.slice(-count) ?? [];
  }
}

function copyOf({timesMs, cpuPercent, memoryBytes}: UiHistory): Series {
  return {timesMs: [...timesMs], cpuPercent: [...cpuPercent], memoryBytes: [...memoryBytes]};
}

function dropLast({timesMs, cpuPercent, memoryBytes}: Series): void {
  timesMs.pop();
  cpuPercent.pop();
  memoryBytes.pop();
}

function dropFirst({timesMs, cpuPercent, memoryBytes}: Series): void {
  timesMs.shift();
  cpuPercent.shift();
  memoryBytes.shift();
}
