import type {TopGroup, TopItem} from './top-item.js';

/** Number of samples that are kept for each row. */
export const HISTORY_LENGTH = 120;

/** Resource whose usage is recorded. */
export type Resource = 'cpu' | 'memory';

/** Key of the node in the history. */
export const NODE_KEY = 'node';

/** Recent CPU and memory usage of each row and of the node, oldest first. */
export class UsageHistory {
  #series = new Map<string, Readonly<Record<Resource, Ring>>>();

  /** Adds a sample of all rows whose nodes answer, and forgets rows that do not exist any more. */
  record(groups: readonly TopGroup[], node: Readonly<Record<Resource, number | undefined>>): void {
    const items = groups.flatMap(({pod, containers}) => [pod, ...containers]);
    const before = this.#series;
    this.#series = new Map();
    const keep = (key: string): Readonly<Record<Resource, Ring>> => {
      const series = before.get(key) ?? {cpu: new Ring(), memory: new Ring()};
      this.#series.set(key, series);
      return series;
    };
    const add = (key: string, cpu: number | undefined, memory: number | undefined): void => {
      const series = keep(key);
      series.cpu.push(cpu ?? 0);
      series.memory.push(memory ?? 0);
    };
    for (const {key, cpuPercent, memoryBytes, isStale} of items)
      if (isStale) keep(key);
      else add(key, cpuPercent, memoryBytes);
    add(NODE_KEY, node.cpu, node.memory);
  }

  /** Returns the last samples of a row, at most `count`. */
  last(key: string, resource: Resource, count: number): readonly number[] {
    return this.#series.get(key)?.[resource].last(count) ?? [];
  }

  /** Returns the last CPU usage of a row; undefined for an unknown row. */
  lastCpu({key}: Pick<TopItem, 'key'>): number | undefined {
    return this.last(key, 'cpu', 1)[0];
  }
}

/** The last numbers of a series. */
class Ring {
  readonly #numbers = new Float32Array(HISTORY_LENGTH);
  #count = 0;

  push(number: number): void {
    this.#numbers[this.#count % HISTORY_LENGTH] = number;
    this.#count += 1;
  }

  last(count: number): readonly number[] {
    const length = Math.min(count, this.#count, HISTORY_LENGTH);
    const first = this.#count - length;
    return Array.from({length}, (_, index) => this.#numbers[(first + index) % HISTORY_LENGTH] ?? 0);
  }
}
