import {isRead, podOf, type CanonicalCall} from '../canonical/canonical-calls.js';
import {stringOrEmpty, type Json, type JsonObject} from '../canonical/canonical-json.js';

/** A call of a recording in canonical form, with its start in ms. */
export interface TimedCall {
  readonly startMs: number;
  readonly call: CanonicalCall;
}

/** Answer of a read by the object that each part is about; '' for what is about none. */
type AnswerParts = ReadonlyMap<string, string>;

interface ReadAnswer {
  readonly startMs: number;
  readonly parts: AnswerParts;
}

interface ObjectChange {
  readonly startMs: number;
  /** Label of the container or sandbox. */
  readonly object: string;
}

/** Methods after which an object is expected in another state. */
const CHANGES = /^(Stop|Remove|Update|Start)/;

/**
 * Knows what a recording answered to reads later on. A container that ends by itself may end before a read of the replay and
 * have ended after it in the recording: that is a matter of time, not of the runtime.
 */
export class ReadHistory {
  readonly #reads = new Map<string, ReadAnswer[]>();
  /** By the name of the pod. */
  readonly #changes = new Map<string, ObjectChange[]>();
  /** Each part once, since most reads answer the same. */
  readonly #texts = new Map<string, string>();

  /** `calls` are those of the recording, in the order of their starts. None of them is kept. */
  constructor(calls: Iterable<TimedCall>) {
    for (const {startMs, call} of calls)
      if (CHANGES.test(call.method)) append(this.#changes, podOf(call), {startMs, object: objectOf(call)});
      else if (isRead(call.method)) append(this.#reads, keyOf(call), {startMs, parts: this.#partsOf(call)});
  }

  /**
   * Reports whether the recording has the answer, or each part of it, at this read or at a later one before the next call
   * that changes its object.
   */
  allows({startMs, call}: TimedCall): boolean {
    const answers = this.#reads.get(keyOf(call)) ?? [];
    const first = indexFrom(answers, startMs);
    const parts = this.#partsOf(call);
    const objects = new Set([...parts.keys(), ...(answers[first]?.parts.keys() ?? [])]);
    return [...objects].every((object) => {
      const endMs = this.#changeOf(object === '' ? objectOf(call) : object, podOf(call), startMs);
      for (let index = first; index < answers.length; index += 1) {
        const answer = answers[index];
        if (answer === undefined || answer.startMs >= endMs) return false;
        if (answer.parts.get(object) === parts.get(object)) return true;
      }
      return false;
    });
  }

  /** Returns the time of the first later call that changes an object, or the whole pod. */
  #changeOf(object: string, pod: string, startMs: number): number {
    const name = pod === '' ? podOf({req: {object}}) : pod;
    const next = (this.#changes.get(name) ?? []).find(
      (change) => change.startMs > startMs && (change.object === object || change.object.startsWith('<SB:')),
    );
    return next?.startMs ?? Infinity;
  }

  #partsOf({code, resp = {}}: CanonicalCall): AnswerParts {
    const lists = [resp['containers'], resp['items']].filter((list) => Array.isArray(list));
    const items = lists.flatMap((list) => list as readonly JsonObject[]);
    const rest = items.length === 0 ? resp : {};
    const parts = items.map((item): [string, Json] => [stringOrEmpty(item['id']), item]);
    return new Map(
      [['', [code, rest]] as [string, Json], ...parts].map(([object, part]) => [object, this.#once(part)]),
    );
  }

  #once(part: Json): string {
    const text = JSON.stringify(part);
    const known = this.#texts.get(text);
    if (known === undefined) this.#texts.set(text, text);
    return known ?? text;
  }
}

/** Returns the index of the first answer that is not before a time, in ms; the length if there is none. */
function indexFrom(answers: readonly ReadAnswer[], startMs: number): number {
  let [from, to] = [0, answers.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((answers[middle]?.startMs ?? Infinity) < startMs) from = middle + 1;
    else to = middle;
  }
  return from;
}

function append<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

const keyOf = ({method, req}: CanonicalCall): string => `${method} ${JSON.stringify(req)}`;

/** Returns the label of the container or sandbox that a call is about; '' if it is about several. */
function objectOf({req}: CanonicalCall): string {
  return stringOrEmpty(req['container_id'] ?? req['pod_sandbox_id']);
}
