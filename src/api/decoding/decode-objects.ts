import type {Decoder} from './decoder.js';
import {requiredValue, unsupportedValue} from '../field-error.js';
import {FieldPath} from '../field-path.js';
import type {ManifestNode, MapNode} from './manifest-node.js';
import {findFieldOffset} from './manifest-node.js';
import {configMap, runtimeClass, secret, serviceAccount} from '../schema/schema-objects.js';
import {pod} from '../schema/schema-pod.js';
import type {ObjectSchema} from '../schema/object-schema.js';
import {int64, object, objectSchema, text} from '../schema/object-schema.js';
import type {Pod} from '../types/v1-pod.js';
import type {ApiObject} from '../types/v1-objects.js';

/** A Pod or an object that Pods refer to. */
type ManifestObject = Pod | ApiObject;

/** An object of a document and its path in it. */
export interface DecodedObject {
  readonly object: ManifestObject;
  readonly node: MapNode;
  /** Path in the document: empty for the document itself, `items[2]` inside a list. */
  readonly path: FieldPath;
}

interface Kind {
  readonly apiVersion: string;
  readonly read: (node: MapNode, path: FieldPath, decoder: Decoder) => readonly DecodedObject[];
}

/** Kinds that a manifest may contain; other kinds are rejected by name. */
const KINDS: Readonly<Record<string, Kind>> = {
  ...objectsOf('v1', 'ConfigMap', configMap),
  List: {apiVersion: 'v1', read: (node, path, decoder) => readList(node, path, decoder)},
  ...objectsOf('v1', 'Pod', pod),
  ...objectsOf('node.k8s.io/v1', 'RuntimeClass', runtimeClass),
  ...objectsOf('v1', 'Secret', secret),
  ...objectsOf('v1', 'ServiceAccount', serviceAccount),
};

/** Returns a kind and its list kind. */
function objectsOf<T extends ManifestObject>(
  apiVersion: T['apiVersion'],
  kind: T['kind'],
  schema: ObjectSchema<T>,
): Readonly<Record<string, Kind>> {
  return {
    [kind]: {
      apiVersion,
      read: (node, path, decoder) => [
        // Items of a list may omit apiVersion and kind.
        {object: {...decoder.decode(schema, node, path), apiVersion, kind}, node, path},
      ],
    },
    [`${kind}List`]: {apiVersion, read: (node, path, decoder) => readList(node, path, decoder, kind)},
  };
}

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

/** Returns the objects of a document or list item; anything else becomes a problem of the decoder. */
export function decodeObjects(
  node: ManifestNode,
  path: FieldPath,
  decoder: Decoder,
  impliedKind?: string,
): readonly DecodedObject[] {
  if (node.kind !== 'map') {
    decoder.report({path, message: 'Invalid value: must be an object with apiVersion and kind'}, node.offset);
    return [];
  }
  const name = textField(node, 'kind') ?? impliedKind;
  const kind = name !== undefined && Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
  if (kind === undefined)
    return refuse(decoder, node, path.child('kind'), {found: name, known: Object.keys(KINDS)});
  const version = textField(node, 'apiVersion') ?? (impliedKind && kind.apiVersion);
  if (version === kind.apiVersion) return kind.read(node, path, decoder);
  return refuse(decoder, node, path.child('apiVersion'), {found: version, known: [kind.apiVersion]});
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
): readonly DecodedObject[] {
  const error = found === undefined ? requiredValue(path) : unsupportedValue(path, found, known);
  decoder.report(error, findFieldOffset(node, new FieldPath(path.steps.slice(-1))));
  return [];
}

function readList(
  node: MapNode,
  path: FieldPath,
  decoder: Decoder,
  impliedKind?: string,
): readonly DecodedObject[] {
  const entries = new Map(node.entries);
  const items = entries.get('items')?.value;
  entries.delete('items');
  decoder.decode(listHeader, {...node, entries}, path);
  if (items?.kind !== 'list') {
    decoder.report(
      requiredValue(path.child('items'), 'must be a list'),
      findFieldOffset(node, new FieldPath(['items'])),
    );
    return [];
  }
  return items.items.flatMap((item, index) =>
    decodeObjects(item, path.child('items').index(index), decoder, impliedKind),
  );
}
