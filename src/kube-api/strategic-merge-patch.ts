import {isDeepStrictEqual} from 'node:util';
import {isObject} from '../base/is-object.js';

type Json = Readonly<Record<string, unknown>>;

/** Rules for the lists of an object, by field: merged by a key field, or replaced as a whole (the default). */
export type ListMergeKeys = Readonly<Record<string, string>>;

/** List of the pod and node status whose items are merged (patchMergeKey of the API types). */
export const STATUS_MERGE_KEYS: ListMergeKeys = {
  conditions: 'type',
  hostIPs: 'ip',
  podIPs: 'ip',
  resourceClaimStatuses: 'name',
};

/**
 * Returns the strategic merge patch that turns `before` into `after` (strategicpatch.CreateTwoWayMergePatch): changed
 * fields, null for removed ones, and for merged lists the changed items with the order of all. Empty if both are equal.
 */
export function createMergePatch(
  before: Json,
  after: Json,
  mergeKeys: ListMergeKeys = STATUS_MERGE_KEYS,
): Json {
  const changes = Object.entries(after).map(([name, next]) =>
    patchField(name, {known: before[name], next}, mergeKeys),
  );
  const removed = Object.entries(before).filter(([name, known]) => isSet(known) && after[name] === undefined);
  return {
    ...(Object.assign({}, ...changes) as Json),
    ...Object.fromEntries(removed.map(([name]) => [name, null])),
  };
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null;

function patchField(
  name: string,
  {known, next}: {readonly known: unknown; readonly next: unknown},
  mergeKeys: ListMergeKeys,
): Json {
  if (next === undefined || isDeepStrictEqual(known, next)) return {};
  const key = mergeKeys[name];
  if (key !== undefined && isObjectList(known) && isObjectList(next))
    return patchList(name, {known, next, key}, mergeKeys);
  if (!isObject(known) || !isObject(next)) return {[name]: next};
  const below = createMergePatch(known, next, mergeKeys);
  return Object.keys(below).length === 0 ? {} : {[name]: below};
}

interface ListChange {
  readonly known: readonly Json[];
  readonly next: readonly Json[];
  readonly key: string;
}

function patchList(name: string, {known, next, key}: ListChange, mergeKeys: ListMergeKeys): Json {
  const changed = next.flatMap((item): readonly Json[] => {
    const old = known.find((candidate) => candidate[key] === item[key]);
    if (old === undefined) return [item];
    const patch = createMergePatch(old, item, mergeKeys);
    return Object.keys(patch).length === 0 ? [] : [{...patch, [key]: item[key]}];
  });
  const removed = known
    .filter((item) => !next.some((candidate) => candidate[key] === item[key]))
    .map((item) => ({$patch: 'delete', [key]: item[key]}));
  const order = next.map((item) => ({[key]: item[key]}));
  return {
    [`$setElementOrder/${name}`]: order,
    ...(changed.length + removed.length > 0 && {[name]: [...changed, ...removed]}),
  };
}

function isObjectList(value: unknown): value is readonly Json[] {
  return Array.isArray(value) && value.every(isObject);
}
