import type {Json} from './canonical-json.js';
import {groupByPod} from './canonical-calls.js';
import type {CanonicalCall} from './comparable-call.js';

/** A difference between two runs. */
export interface RunDifference {
  /** Name of the pod; empty for calls without one. */
  readonly pod: string;
  readonly method: string;
  /** Container or sandbox of the call; empty without one. */
  readonly object: string;
  /** `only in A`, `only in B`, or `different`. */
  readonly kind: 'only in A' | 'only in B' | 'different';
  /** Differing members of calls in both, by path. */
  readonly fields: readonly FieldDifference[];
}

/** A member that differs; undefined on the side that lacks it. */
export interface FieldDifference {
  readonly path: string;
  readonly a: Json | undefined;
  readonly b: Json | undefined;
}

/** Maximum number of calls of a pod that are aligned; further ones are compared in their order. */
const MAX_ALIGNED = 2000;

/** Returns how two runs differ, pod by pod. Pure. */
export function compareRuns(
  a: readonly CanonicalCall[],
  b: readonly CanonicalCall[],
): readonly RunDifference[] {
  const [byPodA, byPodB] = [groupByPod(a), groupByPod(b)];
  const pods = [...new Set([...byPodA.keys(), ...byPodB.keys()])];
  return pods.flatMap((pod) =>
    alignCalls(byPodA.get(pod) ?? [], byPodB.get(pod) ?? []).flatMap(([callA, callB]) =>
      callDifference(pod, callA, callB),
    ),
  );
}

type Pair = readonly [CanonicalCall | undefined, CanonicalCall | undefined];

/** Returns the difference of two calls, of which one may be missing; nothing if they are equal. */
export function callDifference(pod: string, a: Pair[0], b: Pair[1]): readonly RunDifference[] {
  const call = a ?? b;
  if (call === undefined) return [];
  const about = {pod, method: call.method, object: objectOf(call)};
  if (a === undefined) return [{...about, kind: 'only in B', fields: []}];
  if (b === undefined) return [{...about, kind: 'only in A', fields: []}];
  const fields = differingFields(a as unknown as Json, b as unknown as Json, '');
  return fields.length === 0 ? [] : [{...about, kind: 'different', fields}];
}

/** Returns the label of the call's own container or sandbox. */
function objectOf({req, resp}: CanonicalCall): string {
  const [label = ''] =
    /<(?:C|SB):[^>]+>/.exec(
      JSON.stringify([resp?.['container_id'], req['container_id'], req['pod_sandbox_id'], resp]),
    ) ?? [];
  return label;
}

const keyOf = (call: CanonicalCall): string => `${call.method} ${objectOf(call)}`;

/** Pairs the calls of two lists along their longest common subsequence of methods and objects. */
function alignCalls(a: readonly CanonicalCall[], b: readonly CanonicalCall[]): readonly Pair[] {
  if (Math.max(a.length, b.length) > MAX_ALIGNED)
    return Array.from({length: Math.max(a.length, b.length)}, (_, index): Pair => [a[index], b[index]]);
  const [keysA, keysB] = [a.map(keyOf), b.map(keyOf)];
  const common = commonLengths(keysA, keysB);
  const pairs: Pair[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length)
    if (keysA[i] === keysB[j]) pairs.push([a[i++], b[j++]]);
    else if (common(i + 1, j) >= common(i, j + 1)) pairs.push([a[i++], undefined]);
    else pairs.push([undefined, b[j++]]);
  return [
    ...pairs,
    ...a.slice(i).map((call): Pair => [call, undefined]),
    ...b.slice(j).map((call): Pair => [undefined, call]),
  ];
}

/** Returns the length of the longest common subsequence of what two lists have from each pair of positions on. */
function commonLengths(a: readonly string[], b: readonly string[]): (i: number, j: number) => number {
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  return at;
}

/** Returns the members in which two values differ, by their paths below `path`. Pure. */
export function differingFields(
  a: Json | undefined,
  b: Json | undefined,
  path = '',
): readonly FieldDifference[] {
  if (JSON.stringify(a) === JSON.stringify(b)) return [];
  const [membersA, membersB] = [membersOf(a), membersOf(b)];
  if (membersA === undefined || membersB === undefined || Array.isArray(a) !== Array.isArray(b))
    return [{path, a, b}];
  const names = new Set([...Object.keys(membersA), ...Object.keys(membersB)]);
  return [...names].flatMap((name) => {
    const inner = Array.isArray(a) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`;
    return differingFields(memberOf(membersA, name), memberOf(membersB, name), inner);
  });
}

/** Returns an own member: a recorded name may be one that every object inherits. */
function memberOf(members: Readonly<Record<string, Json>>, name: string): Json | undefined {
  return Object.hasOwn(members, name) ? members[name] : undefined;
}

function membersOf(value: Json | undefined): Readonly<Record<string, Json>> | undefined {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, Json>>) : undefined;
}
