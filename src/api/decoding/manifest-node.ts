import type {FieldPath, PathStep} from '../field-path.js';
import type {ScalarValue} from './plain-scalar.js';

/** A value of a manifest with its position; aliases share the node they refer to. */
export type ManifestNode = ScalarNode | ListNode | MapNode;

/** A string, number, boolean or null. */
export interface ScalarNode {
  readonly kind: 'scalar';
  readonly value: ScalarValue;
  /** Text as written in the file. */
  readonly source: string;
  readonly offset: number;
}

/** An ordered list of values. */
export interface ListNode {
  readonly kind: 'list';
  readonly items: readonly ManifestNode[];
  readonly offset: number;
}

/** Values by key. */
export interface MapNode {
  readonly kind: 'map';
  readonly entries: ReadonlyMap<string, MapEntry>;
  readonly offset: number;
  /** Offset after its last value. */
  readonly end: number;
}

/** A value of a map and the position of its key. */
export interface MapEntry {
  readonly keyOffset: number;
  readonly value: ManifestNode;
}

function scalarToJson({value}: ScalarNode): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

/** Returns the value of a node as JSON. */
export function toJson(node: ManifestNode, scalar: (node: ScalarNode) => unknown = scalarToJson): unknown {
  if (node.kind === 'list') return node.items.map((item) => toJson(item, scalar));
  if (node.kind === 'scalar') return scalar(node);
  return Object.fromEntries([...node.entries].map(([name, {value}]) => [name, toJson(value, scalar)]));
}

/** Returns the value at a path; undefined if it is absent. */
export function findNode(root: ManifestNode | undefined, path: FieldPath): ManifestNode | undefined {
  return path.steps.reduce<ManifestNode | undefined>((node, next) => node && step(node, next)?.node, root);
}

function step(
  node: ManifestNode,
  to: PathStep,
): {readonly node: ManifestNode; readonly offset: number} | undefined {
  if (node.kind === 'list' && typeof to === 'number') {
    const item = node.items[to];
    return item && {node: item, offset: item.offset};
  }
  if (node.kind !== 'map' || typeof to === 'number') return undefined;
  const entry = node.entries.get(typeof to === 'string' ? to : to.key);
  if (entry === undefined) return undefined;
  const silent = entry.value.kind === 'scalar' && entry.value.value === null;
  return {node: entry.value, offset: silent ? entry.keyOffset : entry.value.offset};
}

/** Returns the position of a path; an absent value has the position of the nearest enclosing object. */
export function findFieldOffset(root: ManifestNode, path: FieldPath): number {
  let place = {node: root, offset: root.offset};
  for (const next of path.steps) {
    const deeper = step(place.node, next);
    if (deeper === undefined) break;
    place = deeper;
  }
  return place.offset;
}
