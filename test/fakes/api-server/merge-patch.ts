import {isObject} from '../../../src/base/is-object.js';

type Json = Record<string, unknown>;

/** Keys by which the items of lists in pods and nodes are merged. */
const MERGE_KEYS: Readonly<Record<string, string>> = {
  conditions: 'type',
  addresses: 'type',
  podIPs: 'ip',
  hostIPs: 'ip',
  ephemeralContainers: 'name',
};

/** Applies a strategic merge patch as the API server does, as far as a kubelet uses it. */
export function applyMergePatch(target: unknown, patch: Json): Json {
  const result: Json = isObject(target) ? {...target} : {};
  for (const [name, value] of Object.entries(patch)) {
    if (name.startsWith('$')) continue;
    const key = MERGE_KEYS[name];
    if (value === null) Reflect.deleteProperty(result, name);
    else if (Array.isArray(value) && key !== undefined)
      result[name] = mergeList((result[name] ?? []) as Json[], value as Json[], key);
    else result[name] = isObject(value) ? applyMergePatch(result[name], value) : value;
  }
  for (const [name, order] of Object.entries(patch))
    if (name.startsWith('$setElementOrder/'))
      sortBy(result, name.slice('$setElementOrder/'.length), order as Json[]);
  return result;
}

function mergeList(known: readonly Json[], patch: readonly Json[], key: string): Json[] {
  const isReplaced = patch.some(({$patch: directive}) => directive === 'replace');
  if (isReplaced) return patch.filter((item) => !('$patch' in item));
  const merged = [...known];
  for (const item of patch) {
    const index = merged.findIndex((candidate) => candidate[key] === item[key]);
    if (item['$patch'] === 'delete') merged.splice(index, index === -1 ? 0 : 1);
    else if (index === -1) merged.push(applyMergePatch({}, item));
    else merged[index] = applyMergePatch(merged[index], item);
  }
  return merged;
}

function sortBy(object: Json, name: string, order: readonly Json[]): void {
  const key = MERGE_KEYS[name];
  const items = object[name];
  if (key === undefined || !Array.isArray(items)) return;
  const position = (item: Json): number => order.findIndex((candidate) => candidate[key] === item[key]);
  object[name] = (items as Json[]).toSorted((a, b) => position(a) - position(b));
}
