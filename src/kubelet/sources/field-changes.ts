import {isObject} from '../../base/is-object.js';
import type {Json} from '../../format/json.js';

/** Change of a field. */
export interface FieldChange {
  /** Path such as `spec.containers[web].image`. List members appear by name if they have one, else by index. */
  readonly path: string;
  /** Absent for a new field. */
  readonly before?: Json;
  /** Absent for a removed field. */
  readonly after?: Json;
}

/** Returns the fields that differ, in their order; a new or removed object is one change. */
export function computeFieldChanges(before: Json, after: Json): readonly FieldChange[] {
  return differencesAt('', before, after);
}

function differencesAt(
  path: string,
  before: Json | undefined,
  after: Json | undefined,
): readonly FieldChange[] {
  if (before === undefined) return after === undefined ? [] : [{path, after}];
  if (after === undefined) return [{path, before}];
  const [old, now] = [membersOf(before), membersOf(after)];
  if (old === undefined || now === undefined)
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [{path, before, after}];
  const keys = new Set([...old.keys(), ...now.keys()]);
  return Array.from(keys).flatMap((key) => differencesAt(joined(path, key), old.get(key), now.get(key)));
}

/** Fields that name the members of a list, in the Pod API and in the CRI. */
const NAMES = ['name', 'key', 'container_path', 'mountPath', 'containerPort'] as const;

/** Returns the members of an object or list by name; undefined for scalars, empty lists and lists of scalars. */
function membersOf(value: Json): ReadonlyMap<string, Json> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!isList(value)) return new Map(Object.entries(value));
  const items = value.filter((item) => isObject(item));
  if (items.length < value.length || items.length === 0) return undefined;
  const labels = NAMES.map((name) => items.map((item) => labelOf(item[name]))).find(areNames);
  return new Map(items.map((item, index) => [`[${labels?.[index] ?? String(index)}]`, item]));
}

function labelOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/** Reports whether every member has a name and the names are unique. */
function areNames(labels: readonly (string | undefined)[]): boolean {
  return !labels.includes(undefined) && new Set(labels).size === labels.length;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** Joins a path and a key; keys with dots, as in labels and annotations, go in brackets. */
function joined(path: string, key: string): string {
  if (key.startsWith('[')) return path + key;
  if (path === '') return key;
  return /^[\w-]+$/.test(key) ? `${path}.${key}` : `${path}[${key}]`;
}
