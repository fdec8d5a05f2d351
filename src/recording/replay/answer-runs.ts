/** Reads one after the other that had the same answer about an object, by their indexes among the reads. */
interface Run {
  readonly part: string;
  readonly from: number;
  to: number;
}

/** Times between which reads start, in ms. */
export interface ReadTimes {
  readonly fromMs: number;
  readonly endMs: number;
}

/** Maximum number of answers about an object that are compared with one of a replay. */
const MAX_CANDIDATES = 16;

/**
 * Holds what equal requests were answered, one after the other. Reads that answered the same about an object take the memory of
 * one, and searches take logarithmic time. Parts of answers are texts; '' stands for an object that an answer does not have.
 */
export class AnswerRuns {
  /** Starts of the reads in ms, in their order. */
  readonly #starts: number[] = [];
  /** Objects of each answer; one list for reads that follow one another and have the same. */
  readonly #objects: (readonly string[])[] = [];
  /** Runs of each object, by the part and in their order. */
  readonly #runs = new Map<string, Map<string, Run[]>>();
  readonly #last = new Map<string, Run>();

  /** Adds a read, which has not started before earlier ones, with the parts of its answer by their objects. */
  add(startMs: number, parts: ReadonlyMap<string, string>): void {
    const index = this.#starts.push(startMs) - 1;
    const before = this.#objects.at(-1);
    const isSame = before?.length === parts.size && before.every((object) => parts.has(object));
    this.#objects.push(isSame ? before : [...parts.keys()]);
    for (const [object, part] of parts) {
      const last = this.#last.get(object);
      if (last?.part === part && last.to === index - 1) {
        last.to = index;
        continue;
      }
      // Reads in between did not have the object.
      const gapFrom = last === undefined ? 0 : last.to + 1;
      if (gapFrom < index) this.#append(object, {part: '', from: gapFrom, to: index - 1});
      const run = {part, from: index, to: index};
      this.#last.set(object, run);
      this.#append(object, run);
    }
  }

  #append(object: string, run: Run): void {
    const runs = this.#runs.get(object) ?? new Map<string, Run[]>();
    this.#runs.set(object, runs);
    const equal = runs.get(run.part);
    if (equal === undefined) runs.set(run.part, [run]);
    else equal.push(run);
  }

  /** Returns the objects of the first answer at a time or later. */
  objectsAt(startMs: number): readonly string[] {
    return this.#objects[firstIndex(this.#starts, (start) => start >= startMs)] ?? [];
  }

  /** Returns what reads that started in [fromMs, endMs) answered about the object, each once; of many only some. */
  partsIn(object: string, times: ReadTimes): readonly string[] {
    const parts = [...(this.#runs.get(object)?.keys() ?? [])].slice(0, MAX_CANDIDATES);
    return parts.filter((part) => part !== '' && this.has(object, part, times));
  }

  /** Reports whether a read that started in [fromMs, endMs) answered this about the object. */
  has(object: string, part: string, {fromMs, endMs}: ReadTimes): boolean {
    const first = firstIndex(this.#starts, (start) => start >= fromMs);
    const runs = this.#runs.get(object)?.get(part) ?? [];
    const run = runs[firstIndex(runs, ({to}) => to >= first)];
    const absentFrom = part === '' ? (this.#last.get(object)?.to ?? -1) + 1 : Infinity;
    const index = Math.max(first, Math.min(run?.from ?? Infinity, absentFrom));
    return (this.#starts[index] ?? Infinity) < endMs;
  }
}

/** Returns the index of the first item that is far enough, in a list in which all after it are; the length if there is none. */
export function firstIndex<T>(items: readonly T[], isFarEnough: (item: T) => boolean): number {
  let [from, to] = [0, items.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const item = items[middle];
    if (item !== undefined && !isFarEnough(item)) from = middle + 1;
    else to = middle;
  }
  return from;
}
