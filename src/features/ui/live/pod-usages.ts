import type {CpuPercent} from '../../../operations/stats/compute-usage.js';
import type {ListedSample, TopGroup, TopItem} from '../../top/model/top-item.js';
import type {UiUsage} from '../protocol.js';

/** Usage of a pod and its containers. */
export interface PodUsage {
  readonly numbers: UiUsage;
  /** The numbers in JSON. */
  readonly text: string;
}

/** Number of decimal digits of memory usage. */
const MEMORY_DIGITS = 4;

/** Computes the usage of pods, rounded to what the page can show. What has not changed since the last sample is the same object. */
export class PodUsages {
  #known: ReadonlyMap<string, PodUsage> = new Map();

  /** Returns the usage by the key of a pod's row. A container that was not measured again has its last CPU usage. */
  compute(
    samples: readonly Pick<ListedSample, 'node' | 'usage'>[],
    groups: readonly TopGroup[],
  ): ReadonlyMap<string, PodUsage> {
    const byNode = new Map(samples.map(({node, usage}) => [node, usage]));
    const known = new Map<string, PodUsage>();
    for (const {pod, containers} of groups) {
      const before = this.#known.get(pod.key);
      const numbers = usageOf(containers, byNode.get(pod.node), before?.numbers);
      known.set(
        pod.key,
        before !== undefined && isEqual(before.numbers, numbers)
          ? before
          : {numbers, text: JSON.stringify(numbers)},
      );
    }
    this.#known = known;
    return known;
  }
}

function usageOf(
  containers: readonly TopItem[],
  usage: ListedSample['usage'] | undefined,
  before: UiUsage = [],
): UiUsage {
  const pairs = containers.map(({containerId, state}, index): UiUsage => {
    const used = containerId === undefined || state !== 'Running' ? undefined : usage?.get(containerId);
    if (used === undefined) return [null, null];
    return [cpuOf(used.cpuPercent, before[2 * index + 2]), roundMemory(Number(used.memoryBytes))];
  });
  const sums = [0, 1].map((which) => sumOf(pairs.flatMap((pair) => pair[which] ?? [])));
  const [cpu = null, memory = null] = sums;
  return [cpu && roundCpu(cpu), memory && roundMemory(memory), ...pairs.flat()];
}

function cpuOf(percent: CpuPercent, last: number | null = null): number | null {
  if (typeof percent === 'number') return roundCpu(percent);
  return percent === 'stale' ? last : null;
}

function sumOf(numbers: readonly number[]): number | null {
  return numbers.length === 0 ? null : numbers.reduce((sum, number) => sum + number, 0);
}

function roundCpu(percent: number): number {
  return Math.round(percent * 100) / 100;
}

function roundMemory(bytes: number): number {
  if (bytes < 10 ** MEMORY_DIGITS) return bytes;
  const step = 10 ** (Math.floor(Math.log10(bytes)) + 1 - MEMORY_DIGITS);
  return Math.round(bytes / step) * step;
}

function isEqual(a: UiUsage, b: UiUsage): boolean {
  return a.length === b.length && a.every((number, index) => number === b[index]);
}
