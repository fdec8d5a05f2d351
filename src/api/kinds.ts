import type {Decoder} from './decode.js';
import {requiredValue, unsupportedValue} from './field-error.js';
import {FieldPath} from './field-path.js';
import type {ManifestNode, MapNode} from './manifest-tree.js';
import {locate} from './manifest-tree.js';
import {configMap, runtimeClass, secret, serviceAccount} from './schema-objects.js';
import {pod} from './schema-pod.js';
import type {ObjectSchema} from './schema.js';
import {int64, object, objectSchema, text} from './schema.js';
import type {Pod} from './v1.js';
import type {ApiObject} from './v1-objects.js';

/** A Pod, or what Pods refer to. */
type ManifestObject = Pod | ApiObject;

/** An object of a document, and where it stands in it. */
export interface FoundObject {
  readonly object: ManifestObject;
  readonly node: MapNode;
  /** Empty for a document that is an object, `items[2]` inside a list. */
  readonly path: FieldPath;
}

interface Kind {
  readonly apiVersion: string;
  readonly read: (node: MapNode, path: FieldPath, decoder: Decoder) => readonly FoundObject[];
}

/** The kinds that a manifest may hold; another one is refused by its name. */
const KINDS: Readonly<Record<string, Kind>> = {
  ...objectsOf('v1', 'ConfigMap', configMap),
  List: {apiVersion: 'v1', read: (node, path, decoder) => readList(node, path, decoder)},
  ...objectsOf('v1', 'Pod', pod),
  ...objectsOf('node.k8s.io/v1', 'RuntimeClass', runtimeClass),
  ...objectsOf('v1', 'Secret', secret),
  ...objectsOf('v1', 'ServiceAccount', serviceAccount),
};

/** A kind and the list of it. */
function objectsOf<T extends ManifestObject>(
  apiVersion: T['apiVersion'],
  kind: T['kind'],
  schema: ObjectSchema<T>,
): Readonly<Record<string, Kind>> {
  return {
    [kind]: {
      apiVersion,
      read: (node, path, decoder) => [
        // The items of a list may leave out what the list says.
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

/** The objects of a document or list item; what isn't one goes to the decoder's problems. */
export function readObjects(
  node: ManifestNode,
  path: FieldPath,
  decoder: Decoder,
  impliedKind?: string,
): readonly FoundObject[] {
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
): readonly FoundObject[] {
  const error = found === undefined ? requiredValue(path) : unsupportedValue(path, found, known);
  decoder.report(error, locate(node, new FieldPath(path.steps.slice(-1))));
  return [];
}

function readList(
  node: MapNode,
  path: FieldPath,
  decoder: Decoder,
  impliedKind?: string,
): readonly FoundObject[] {
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
