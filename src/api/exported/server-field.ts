import {findField, withField} from '../decoding/edit-node.js';
import type {ManifestNode, MapNode} from '../decoding/manifest-node.js';
import type {FieldPath} from '../field-path.js';

/** A part of an object that the API server, a controller or a kubelet added. */
export interface ServerField {
  readonly path: FieldPath;
  /** Offset in the text. */
  readonly offset: number;
  /** Name for people: a path in the object such as `metadata.uid`, or `volume "kube-api-access-x7k2p"`. */
  readonly name: string;
  /** Reason why containers may miss it; undefined if it is only information about the exported object. */
  readonly loss?: string | undefined;
}

/** Receives each removed part. */
export type OnRemoved = (field: ServerField) => void;

/** Position of a map in its object and document, and the receiver of what is removed from it. */
export interface Removal {
  /** Path in the document. */
  readonly path: FieldPath;
  /** Path in the object, with a final period: `metadata.`. */
  readonly prefix: string;
  readonly onRemoved: OnRemoved;
}

/** Reports whether a field has a value: `creationTimestamp: null` and `status: {}` are part of many manifests. */
export function isSet(node: ManifestNode | undefined): node is ManifestNode {
  if (node?.kind === 'scalar') return node.value !== null && node.value !== '';
  return node?.kind === 'map' ? node.entries.size > 0 : node !== undefined;
}

/** Returns a map without those of the fields that have a value. */
export function removeFields(
  map: MapNode,
  names: readonly string[],
  removal: Removal,
  loss?: string,
): MapNode {
  let left = map;
  for (const name of names) {
    const value = findField(map, name);
    if (!isSet(value)) continue;
    left = withField(left, name, undefined);
    removal.onRemoved({
      path: removal.path.child(name),
      offset: map.entries.get(name)?.keyOffset ?? value.offset,
      name: `${removal.prefix}${name}`,
      loss,
    });
  }
  return left;
}
