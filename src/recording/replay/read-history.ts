import {podOf, type CanonicalCall} from '../canonical/canonical-calls.js';
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

/** Methods after which an object is expected in another state. */
const CHANGES = /^(Stop|Remove|Update|Start)/;

/**
 * Knows what a recording answered to reads later on. A container that ends by itself may end before a read of the replay and
 * have ended after it in the recording: that is a matter of time, not of the runtime.
 */
export class ReadHistory {
  readonly #reads = new Map<string, ReadAnswer[]>();
  readonly #changes: readonly TimedCall[];
  /** Each part once, since most reads answer the same. */
  readonly #texts = new Map<string, string>();

  /** `reads` and `others` are the calls of the recording, in the order of their starts. */
  constructor(reads: readonly TimedCall[], others: readonly TimedCall[]) {
    this.#changes = others.filter(({call: {method}}) => CHANGES.test(method));
    for (const {startMs, call} of reads) {
      const key = keyOf(call);
      const answers = this.#reads.get(key) ?? [];
      answers.push({startMs, parts: this.#partsOf(call)});
      this.#reads.set(key, answers);
    }
  }

  /**
   * Reports whether the recording has the answer, or each part of it, at this read or at a later one before the next call
   * that changes its object.
   */
  allows({startMs, call}: TimedCall): boolean {
    const answers = (this.#reads.get(keyOf(call)) ?? []).filter((each) => each.startMs >= startMs);
    const parts = this.#partsOf(call);
    const objects = new Set([...parts.keys(), ...(answers[0]?.parts.keys() ?? [])]);
    return [...objects].every((object) => {
      const endMs = this.#changeOf(object === '' ? objectOf(call) : object, podOf(call), startMs);
      return answers.some(
        (answer) => answer.startMs < endMs && answer.parts.get(object) === parts.get(object),
      );
    });
  }

  /** Returns the time of the first later call that changes an object, or the whole pod. */
  #changeOf(object: string, pod: string, startMs: number): number {
    const name = pod === '' ? podOf({req: {object}}) : pod;
    const next = this.#changes.find(
      ({call, startMs: at}) =>
        at > startMs &&
        podOf(call) === name &&
        (objectOf(call) === object || objectOf(call).startsWith('<SB:')),
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

const keyOf = ({method, req}: CanonicalCall): string => `${method} ${JSON.stringify(req)}`;

/** Returns the label of the container or sandbox that a call is about; '' if it is about several. */
function objectOf({req}: CanonicalCall): string {
  return stringOrEmpty(req['container_id'] ?? req['pod_sandbox_id']);
}
