import type {CanonicalNode, CanonicalRun, NodeWrite} from './api-cases.js';
import {withoutSizes} from './kept-files.js';
import {sortedJson} from './sorted-json.js';

/** A part of a case in which two kubelets differ. */
export interface Difference {
  /** Such as `pods.p.tracks.phase` or `events Pod p Normal Killing`. */
  readonly unit: string;
  readonly recorded: unknown;
  readonly actual: unknown;
}

type Units = Map<string, readonly unknown[]>;

/**
 * Compares two runs unit by unit, as far as the recording has the section. Tracks agree if one is the other with values left
 * out and both end alike, since statuses coalesce.
 */
export function compareRuns(recorded: CanonicalRun, actual: CanonicalRun): readonly Difference[] {
  const [left, right] = [unitsOf(recorded, recorded), unitsOf(actual, recorded)];
  return [...new Set([...left.keys(), ...right.keys()])].toSorted().flatMap((unit) => {
    const [a, b] = [left.get(unit), right.get(unit)];
    if (sortedJson(a ?? null) === sortedJson(b ?? null)) return [];
    if ((unit.includes('.tracks.') || unit.startsWith('node.states.')) && agree(a, b)) return [];
    return [{unit, recorded: a, actual: b}];
  });
}

function unitsOf(run: CanonicalRun, recorded: CanonicalRun): Units {
  const units: Units = new Map();
  addPods(units, run, recorded.node !== undefined);
  if (recorded.node !== undefined && run.node !== undefined) addNode(units, run.node);
  if (recorded.other !== undefined) units.set('other', run.other ?? []);
  const reads = recorded.reads === undefined ? [] : (run.reads ?? []);
  for (const [read, codes] of reads) units.set(`reads ${read}`, codes);
  const answers = recorded.server === undefined ? [] : (run.server ?? []);
  addKept(units, run, recorded);
  for (const [method, path, ...answer] of answers)
    units.set(`server ${String(method)} ${String(path)}`, answer);
  return units;
}

/** Adds requests, tracks, events and CRI calls. */
function addPods(units: Units, run: CanonicalRun, isAboutNode: boolean): void {
  for (const [name, {writes, tracks}] of Object.entries(run.pods)) {
    units.set(`pods.${name}.writes`, writes);
    for (const [track, values] of Object.entries(tracks)) units.set(`pods.${name}.tracks.${track}`, values);
  }
  for (const event of run.events) {
    // Refused events about the node are in the recordings of some pods.
    if (!isAboutNode && String(event[0]).startsWith('Node')) continue;
    const unit = `events ${event.slice(0, 3).map(String).join(' ')}`;
    units.set(unit, [...(units.get(unit) ?? []), event.slice(3)]);
  }
  for (const [pod, calls] of Object.entries(run.calls)) units.set(`calls.${pod}`, calls);
}

/** Adds the state files, answers of the pod resources API and calls to plugins. */
function addKept(units: Units, {kept = {}, pluginCalls = {}}: CanonicalRun, recorded: CanonicalRun): void {
  for (const [name, content] of Object.entries(recorded.kept ?? {}))
    units.set(`kept ${name}`, [withoutSizes(kept[name], content)]);
  for (const [name, calls] of Object.entries(pluginCalls)) units.set(`plugin ${name}`, calls);
}

/** Adds the requests, each field of their bodies, and each aspect of the Node. */
function addNode(units: Units, {writes, states, patch_keys: keys}: CanonicalNode): void {
  units.set('node.writes', [...new Set(writes.map((write) => write.slice(0, 3).join(' ')))]);
  for (const [method, path, , body] of writes)
    for (const [field, value] of fieldsOf(body)) {
      const unit = `node ${method} ${path} ${field}`;
      units.set(unit, withValue(units.get(unit), value));
    }
  for (const state of states)
    for (const [aspect, value] of Object.entries(state)) {
      const unit = `node.states.${aspect}`;
      units.set(unit, withValue(units.get(unit), sortedJson(value)));
    }
  units.set('node.patch_keys', keys);
}

/** Returns the fields of an object and those of its `metadata`, `spec` and `status`. */
function fieldsOf(body: NodeWrite[3]): readonly (readonly [field: string, value: unknown])[] {
  if (typeof body !== 'object' || body === null) return [['body', body]];
  return Object.entries(body).flatMap(([name, value]: [string, unknown]) =>
    ['metadata', 'spec', 'status'].includes(name) && !Array.isArray(value)
      ? Object.entries(value as object).map(([key, item]) => [`${name}.${key}`, item as unknown] as const)
      : [[name, value] as const],
  );
}

function withValue(values: readonly unknown[] = [], value: unknown): readonly unknown[] {
  return sortedJson(values.at(-1) ?? null) === sortedJson(value) ? values : [...values, value];
}

function agree(a: readonly unknown[] = [], b: readonly unknown[] = []): boolean {
  if (a.length === 0 || b.length === 0 || a.at(-1) !== b.at(-1)) return false;
  return isSubsequence(a, b) || isSubsequence(b, a);
}

function isSubsequence(short: readonly unknown[], long: readonly unknown[]): boolean {
  let found = 0;
  for (const value of long) if (value === short[found]) found += 1;
  return found === short.length;
}
