import {applyObjectDefaults} from '../defaults/object-defaults.js';
import {applyPodDefaults} from '../defaults/pod-defaults.js';
import {FieldPath} from '../field-path.js';
import type {ApiObject} from '../types/v1-objects.js';
import type {ObjectSchema} from '../schema/object-schema.js';
import type {Pod} from '../types/v1-pod.js';
import {decodeObjects} from '../decoding/decode-objects.js';
import {Decoder} from '../decoding/decoder.js';
import type {ManifestNode, MapEntry, MapNode} from '../decoding/manifest-node.js';

/**
 * Returns an object of the given kind from the JSON of an API server, with the defaults of the API. Fields that kcri
 * does not know, and values of an unexpected type, are omitted: the server has validated the object. Undefined if it is
 * of another kind.
 */
export function decodeApiObject<K extends 'Pod' | ApiObject['kind']>(
  value: unknown,
  kind: K,
): Extract<Pod | ApiObject, {readonly kind: K}> | undefined {
  const [found] = decodeObjects(toNode(value), new FieldPath(), new Decoder(), kind);
  if (found?.object.kind !== kind) return undefined;
  const {object} = found;
  const complete = object.kind === 'Pod' ? applyPodDefaults(object) : applyObjectDefaults(object);
  // Both functions return an object of the same kind.
  return complete as Extract<Pod | ApiObject, {readonly kind: K}>;
}

/**
 * Returns the JSON of an API server decoded according to a schema. What does not match the schema is omitted, and
 * required fields have their zero values: the server has validated the object.
 */
export function decodeWithSchema<T>(schema: ObjectSchema<T>, value: unknown): T {
  const node = toNode(value);
  const map = node.kind === 'map' ? node : EMPTY_MAP;
  return new Decoder().decode(schema, map, new FieldPath());
}

const EMPTY_MAP: MapNode = {kind: 'map', entries: new Map(), offset: 0, end: 0};

/** Returns JSON as the tree that manifests are decoded from; it has no positions. */
function toNode(value: unknown): ManifestNode {
  if (Array.isArray(value)) return {kind: 'list', items: value.map(toNode), offset: 0};
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([name, item]): [string, MapEntry] => [
      name,
      {keyOffset: 0, value: toNode(item)},
    ]);
    return {kind: 'map', entries: new Map(entries), offset: 0, end: 0};
  }
  const isInteger = typeof value === 'number' && Number.isSafeInteger(value);
  const scalar = isInteger ? BigInt(value) : ((value ?? null) as string | number | boolean | null);
  return {kind: 'scalar', value: scalar, source: String(scalar), offset: 0};
}
