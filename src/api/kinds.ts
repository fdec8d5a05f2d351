import type {Decoder} from './decode.js';
import {requiredValue, unsupportedValue} from './field-error.js';
import {FieldPath} from './field-path.js';
import type {ManifestNode, MapNode} from './manifest-tree.js';
import {locate} from './manifest-tree.js';
import {pod as podSchema} from './schema-pod.js';
import {int64, object, objectSchema, text} from './schema.js';
import type {Pod} from './v1.js';

/** A Pod of a document, and where it stands in it. */
export interface FoundPod {
  readonly pod: Pod;
  readonly node: ManifestNode;
  /** Empty for a document that is a Pod, `items[2]` inside a list. */
  readonly path: FieldPath;
}

type ReadKind = (node: MapNode, path: FieldPath, decoder: Decoder) => readonly FoundPod[];

/** The kinds that a manifest may hold; another one is refused by its name. All are of API version v1. */
const KINDS: Readonly<Record<string, ReadKind>> = {
  List: (node, path, decoder) => readList(node, path, decoder),
  Pod: readPod,
  PodList: (node, path, decoder) => readList(node, path, decoder, 'Pod'),
};

interface ListMeta {
  readonly resourceVersion?: string;
  readonly selfLink?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

interface ListHeader {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: ListMeta;
}

const listMeta = objectSchema<ListMeta>('ListMeta', {
  resourceVersion: text,
  selfLink: text,
  continue: text,
  remainingItemCount: int64,
});

const listHeader = objectSchema<ListHeader>('List', {
  apiVersion: text,
  kind: text,
  metadata: object(listMeta),
});

/** The Pods of a document or list item; what isn't one goes to the decoder's problems. */
export function readObjects(
  node: ManifestNode,
  path: FieldPath,
  decoder: Decoder,
  impliedKind?: string,
): readonly FoundPod[] {
  if (node.kind !== 'map') {
    decoder.report({path, message: 'Invalid value: must be an object with apiVersion and kind'}, node.offset);
    return [];
  }
  const kind = textField(node, 'kind') ?? impliedKind;
  const read = kind !== undefined && Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  if (read === undefined)
    return refuse(decoder, node, path.child('kind'), {found: kind, known: Object.keys(KINDS)});
  const version = textField(node, 'apiVersion') ?? (impliedKind && 'v1');
  if (version === 'v1') return read(node, path, decoder);
  return refuse(decoder, node, path.child('apiVersion'), {found: version, known: ['v1']});
}

function textField(node: MapNode, name: string): string | undefined {
  const value = node.entries.get(name)?.value;
  return value?.kind === 'scalar' && value.value !== null ? String(value.value) : undefined;
}

function refuse(
  decoder: Decoder,
  node: MapNode,
  path: FieldPath,
  {found, known}: {readonly found: string | undefined; readonly known: readonly string[]},
): readonly FoundPod[] {
  const error = found === undefined ? requiredValue(path) : unsupportedValue(path, found, known);
  decoder.report(error, locate(node, new FieldPath(path.steps.slice(-1))));
  return [];
}

function readPod(node: MapNode, path: FieldPath, decoder: Decoder): readonly FoundPod[] {
  const pod = decoder.decode(podSchema, node, path);
  // The items of a PodList may leave out what the list says.
  return [{pod: {...pod, apiVersion: 'v1', kind: 'Pod'}, node, path}];
}

function readList(
  node: MapNode,
  path: FieldPath,
  decoder: Decoder,
  impliedKind?: string,
): readonly FoundPod[] {
  const entries = new Map(node.entries);
  const items = entries.get('items')?.value;
  entries.delete('items');
  decoder.decode(listHeader, {...node, entries}, path);
  if (items?.kind !== 'list') {
    decoder.report(
      requiredValue(path.child('items'), 'must be a list'),
      locate(node, new FieldPath(['items'])),
    );
    return [];
  }
  return items.items.flatMap((item, index) =>
    readObjects(item, path.child('items').index(index), decoder, impliedKind),
  );
}
