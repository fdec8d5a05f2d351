import {stringAt} from '../../base/string-at.js';
import {isRead, podOf, type CanonicalCall} from '../canonical/canonical-calls.js';
import {stringOrEmpty, type Json, type JsonObject} from '../canonical/canonical-json.js';
import {differingFields} from '../canonical/compare-runs.js';
import {AnswerRuns, firstIndex, type ReadTimes} from './answer-runs.js';

/** A call of a recording in canonical form, with its start and end in ms. */
export interface TimedCall {
  readonly startMs: number;
  readonly endMs: number;
  readonly call: CanonicalCall;
}

/** Answer of a read by the object that each part is about; '' for what is about none. */
type AnswerParts = ReadonlyMap<string, string>;

/** Returns how long a container of the replay ran that has ended by itself, in ms; undefined for others. */
export type RunTimes = (label: string) => number | undefined;

/** Calls that change an object, in the order of their starts. */
interface ObjectChanges {
  readonly starts: number[];
  /** The latest end of the calls so far, in ms. */
  readonly ends: number[];
}

/** Methods after which an object is expected in another state. */
const CHANGES = /^(RunPod|Create|Stop|Remove|Update|Start)/;
/** Methods that end containers. */
const STOPS = /^(Stop|Remove)/;
/** Members that list objects. */
const LISTS = ['containers', 'items'];

/**
 * Knows what a recording answered to reads later on. A container that ends by itself may end before a read of the replay and
 * have ended after it in the recording: that is a matter of time, not of the runtime. So is what a read answers about an object
 * that another call was changing in the meantime.
 */
export class ReadHistory {
  readonly #reads = new Map<string, AnswerRuns>();
  /** By the label of the container or sandbox, and by the name of the pod for changes of its sandboxes. */
  readonly #changes = new Map<string, ObjectChanges>();
  /** Ends of the first starts of containers, and starts of calls that stop them or their pods, in ms. */
  readonly #started = new Map<string, number>();
  readonly #stops = new Map<string, number[]>();
  /** Each part once, since most reads answer the same. */
  readonly #texts = new Map<string, string>();

  /** `calls` are those of the recording, in the order of their starts. None of them is kept. */
  constructor(calls: Iterable<TimedCall>) {
    for (const {startMs, endMs, call} of calls)
      if (CHANGES.test(call.method)) this.#addChange({startMs, endMs, call});
      else if (isRead(call.method)) this.#readsOf(call).add(startMs, this.#partsOf(call));
  }

  #addChange({startMs, endMs, call}: TimedCall): void {
    const object = changedBy(call);
    if (object === '') return;
    const key = isSandbox(object) ? podOfLabel(object) : object;
    if (call.method === 'StartContainer' && !this.#started.has(key)) this.#started.set(key, endMs);
    if (STOPS.test(call.method)) {
      const stops = this.#stops.get(key) ?? [];
      this.#stops.set(key, stops);
      stops.push(startMs);
    }
    const changes = this.#changes.get(key) ?? {starts: [], ends: []};
    this.#changes.set(key, changes);
    changes.starts.push(startMs);
    changes.ends.push(Math.max(changes.ends.at(-1) ?? -Infinity, endMs));
  }

  #readsOf({method, req}: CanonicalCall): AnswerRuns {
    const key = `${method} ${JSON.stringify(req)}`;
    const reads = this.#reads.get(key) ?? new AnswerRuns();
    this.#reads.set(key, reads);
    return reads;
  }

  /**
   * Returns the objects about which the recording does not have the answer: neither at this read, nor at a later one before
   * the next call that changes the object. '' stands for what is about no object of a list. An object that a call of the
   * recording was changing during the read may be in any state, and a container that ended by itself may have ended if it ran
   * longer than the recording shows of it: `ranMs` returns how long, by its label.
   */
  unknownObjects(read: TimedCall, ranMs: RunTimes = () => undefined): readonly string[] {
    const {startMs, endMs, call} = read;
    const reads = this.#readsOf(call);
    const parts = this.#partsOf(call);
    const objects = [...new Set([...parts.keys(), ...reads.objectsAt(startMs)])];
    return objects.filter((object) => {
      const changed = object === '' ? objectOf(call) : object;
      if (isExited(call, changed) && this.#mayHaveEnded(changed, startMs, ranMs(changed))) return false;
      const changes = this.#changesOf(changed);
      if (changes.some((each) => isChanging(each, startMs, endMs))) return false;
      return !reads.has(object, parts.get(object) ?? '', this.#comparable(call, object, startMs));
    });
  }

  /** Returns the times of the reads that a read at a time is compared with: until the next call that changes the object. */
  #comparable(call: CanonicalCall, object: string, fromMs: number): ReadTimes {
    const changes = this.#changesOf(object === '' ? objectOf(call) : object);
    return {fromMs, endMs: Math.min(...changes.map((each) => nextStart(each, fromMs)))};
  }

  /**
   * Returns the recorded call with the answers, of those that the read is compared with, that differ least from the replayed
   * one about each of the objects: what differs in all of them is left, and not a state that comes later.
   */
  closest(
    {startMs, call: replayed}: TimedCall,
    recorded: CanonicalCall,
    objects: readonly string[],
  ): CanonicalCall {
    const reads = this.#readsOf(recorded);
    const parts = this.#partsOf(replayed);
    const found = new Map(
      objects.map((object) => {
        const candidates = reads.partsIn(object, this.#comparable(recorded, object, startMs));
        return [object, closestOf(candidates, parts.get(object))] as const;
      }),
    );
    if (listedIn(recorded.resp ?? {}).length > 0) return withItems(recorded, found);
    const whole = found.get('');
    if (whole === undefined) return recorded;
    const [code, resp] = whole as unknown as readonly [string, JsonObject];
    return {...recorded, code, resp};
  }

  #mayHaveEnded(container: string, startMs: number, ranMs: number | undefined): boolean {
    const startedMs = this.#started.get(container);
    if (startedMs === undefined || ranMs === undefined) return false;
    const stops = [container, podOfLabel(container)].map((key) => {
      const starts = this.#stops.get(key) ?? [];
      return starts[firstIndex(starts, (start) => start > startedMs)] ?? Infinity;
    });
    return ranMs >= Math.min(startMs, ...stops) - startedMs;
  }

  /** Returns the calls that change an object, and those that change its whole pod. */
  #changesOf(object: string): readonly ObjectChanges[] {
    return [...new Set([object, podOfLabel(object)])].flatMap((key) => this.#changes.get(key) ?? []);
  }

  #partsOf({code, resp = {}}: CanonicalCall): AnswerParts {
    const items = listedIn(resp);
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

/** Reports whether an answer has a container that has exited. */
function isExited({resp = {}}: CanonicalCall, container: string): boolean {
  const found = listedIn(resp).find(({id}) => id === container) ?? resp['status'];
  return stringAt(found, 'state') === 'CONTAINER_EXITED';
}

/** Returns the objects of the lists in a response. */
function listedIn(resp: JsonObject): readonly JsonObject[] {
  return LISTS.map((name) => resp[name]).flatMap((list) =>
    Array.isArray(list) ? (list as readonly JsonObject[]) : [],
  );
}

/** Returns the part that differs least from a replayed one; undefined if there is none, or the replay lacks the object. */
function closestOf(candidates: readonly string[], replayed: string | undefined): Json | undefined {
  if (replayed === undefined) return undefined;
  const target = JSON.parse(replayed) as Json;
  const parts = candidates.map((text) => JSON.parse(text) as Json);
  const [closest] = parts
    .map((part) => ({part, count: differingFields(part, target).length}))
    .toSorted((a, b) => a.count - b.count);
  return closest?.part;
}

/** Returns a call with other objects in its lists, by their labels. */
function withItems(call: CanonicalCall, items: ReadonlyMap<string, Json | undefined>): CanonicalCall {
  const members = Object.entries(call.resp ?? {}).map(([name, member]): [string, Json] =>
    LISTS.includes(name) && Array.isArray(member)
      ? [name, (member as readonly JsonObject[]).map((item) => items.get(stringOrEmpty(item['id'])) ?? item)]
      : [name, member],
  );
  return {...call, resp: Object.fromEntries(members)};
}

/** Returns a call whose lists have only some of their objects, by their labels. Calls without lists are returned as they are. */
export function withObjects(call: CanonicalCall, objects: readonly string[]): CanonicalCall {
  const {resp = {}} = call;
  if (listedIn(resp).length === 0) return call;
  const members = Object.entries(resp).map(([name, member]): [string, Json] => {
    if (!LISTS.includes(name) || !Array.isArray(member)) return [name, member];
    const items = (member as readonly JsonObject[]).map((item): [string, Json] => [
      stringOrEmpty(item['id']),
      item,
    ]);
    return [name, Object.fromEntries(items.filter(([label]) => objects.includes(label)))];
  });
  return {...call, resp: Object.fromEntries(members)};
}

function isChanging({starts, ends}: ObjectChanges, fromMs: number, toMs: number): boolean {
  const begun = firstIndex(starts, (start) => start >= toMs);
  return (ends[begun - 1] ?? -Infinity) > fromMs;
}

function nextStart({starts}: ObjectChanges, afterMs: number): number {
  return starts[firstIndex(starts, (start) => start > afterMs)] ?? Infinity;
}

/** Returns the label of the container or sandbox that a call is about; '' if it is about several. */
function objectOf({req}: CanonicalCall): string {
  return stringOrEmpty(req['container_id'] ?? req['pod_sandbox_id']);
}

/** Returns the label of the container or sandbox that a call makes or changes. */
function changedBy(call: CanonicalCall): string {
  return stringOrEmpty(call.resp?.['containerId'] ?? call.resp?.['podSandboxId']) || objectOf(call);
}

const isSandbox = (object: string): boolean => object.startsWith('<SB:');
const podOfLabel = (object: string): string => podOf({req: {object}});
