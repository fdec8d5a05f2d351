import type {TopGroup, TopItem} from '../../top/model/top-item.js';
import type {ListedSample} from '../../top/model/top-item.js';
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
  before: UiUsage | undefined,
): UiUsage {
  const numbers: (number | null)[] = [null, null];
  for (const {containerId, state} of containers) {
    const used = containerId === undefined || state !== 'Running' ? undefined : usage?.get(containerId);
    const last = before?.[numbers.length] ?? null;
    const cpu = used?.cpuPercent;
    numbers.push(
      typeof cpu === 'number' ? roundCpu(cpu) : cpu === 'stale' ? last : null,
      used === undefined ? null : roundMemory(Number(used.memoryBytes)),
    );
  }
  for (let index = 2; index < numbers.length; index += 1) {
    const [sum, number] = [numbers[index % 2] ?? null, numbers[index] ?? null];
    if (number !== null) numbers[index % 2] = (sum ?? 0) + number;
  }
  const [cpu, memory] = numbers;
  if (typeof cpu === 'number') numbers[0] = roundCpu(cpu);
  if (typeof memory === 'number') numbers[1] = roundMemory(memory);
  return numbers;
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
