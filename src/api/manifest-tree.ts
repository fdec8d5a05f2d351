import type {FieldPath, PathStep} from './field-path.js';
import type {ScalarValue} from './scalar.js';

/** A manifest's value with its place; aliases share the node that they stand for. */
export type ManifestNode = ScalarNode | ListNode | MapNode;

/** A text, number, truth value or null. */
export interface ScalarNode {
  readonly kind: 'scalar';
  readonly value: ScalarValue;
  /** As written in the file. */
  readonly source: string;
  readonly offset: number;
}

/** Several values in order. */
export interface ListNode {
  readonly kind: 'list';
  readonly items: readonly ManifestNode[];
  readonly offset: number;
}

/** Values by name. */
export interface MapNode {
  readonly kind: 'map';
  readonly entries: ReadonlyMap<string, MapEntry>;
  readonly offset: number;
  /** Behind its last value. */
  readonly end: number;
}

/** A value of a map and where its key stands. */
export interface MapEntry {
  readonly keyOffset: number;
  readonly value: ManifestNode;
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

/** Where a path stands; what the manifest doesn't say stands at the nearest object around it. */
export function locate(root: ManifestNode, path: FieldPath): number {
  let place = {node: root, offset: root.offset};
  for (const next of path.steps) {
    const deeper = step(place.node, next);
    if (deeper === undefined) break;
    place = deeper;
  }
  return place.offset;
}
