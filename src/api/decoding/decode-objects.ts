import {findClosestMatch} from '../../base/closest-match.js';
import type {Decoder} from './decoder.js';
import {requiredValue, unsupportedValue, type FieldError} from '../field-error.js';
import {FieldPath} from '../field-path.js';
import type {ManifestNode, MapNode} from './manifest-node.js';
import {findFieldOffset} from './manifest-node.js';
import {configMap, runtimeClass, secret, serviceAccount} from '../types/v1-objects.js';
import {
  deviceClass,
  manifestResourceClaim,
  resourceClaimTemplate,
  resourceSlice,
} from '../types/v1-device-resources.js';
import {
  betaResourceClaim,
  betaResourceClaimTemplate,
  betaResourceSlice,
  convertBetaClaim,
  convertBetaSlice,
  convertBetaTemplate,
} from '../types/v1beta1-device-resources.js';
import {manifestClaim, manifestVolume} from '../types/v1-persistent-volumes.js';
import {pod} from '../types/v1-pod.js';
import {service} from '../types/v1-services.js';
import {csiDriver, storageClass, volumeAttributesClass} from '../types/v1-storage.js';
import {
  cronJob,
  daemonSet,
  deployment,
  job,
  podTemplate,
  replicaSet,
  replicationController,
  statefulSet,
} from '../types/v1-workloads.js';
import type {ObjectSchema} from '../schema/object-schema.js';
import {int64, object, objectSchema, text} from '../schema/object-schema.js';
import type {Pod} from '../types/v1-pod.js';
import type {ApiObject} from '../types/v1-objects.js';
import type {Workload} from '../types/v1-workloads.js';
import {OTHER_KINDS} from './other-kinds.js';

/** An object of a kind that has no effect on pods here, such as an Ingress. */
export interface SkippedObject {
  readonly kind: 'Skipped';
  /** Kind in the manifest. */
  readonly skippedKind: string;
  /** Name in the manifest; empty if it has none. */
  readonly name: string;
}

/** A Pod, a workload, or an object that Pods refer to. */
type ManifestObject = Pod | Workload | ApiObject;

/** An object of a document and its path in it. */
export interface DecodedObject {
  readonly object: ManifestObject | SkippedObject;
  readonly node: MapNode;
  /** Path in the document: empty for the document itself, `items[2]` inside a list. */
  readonly path: FieldPath;
}

interface Kind {
  readonly apiVersion: string;
  readonly read: ReadObjects;
  /** Older versions by name, which are converted. */
  readonly older?: Readonly<Record<string, ReadObjects>>;
}

type ReadObjects = (node: MapNode, path: FieldPath, decoder: Decoder) => readonly DecodedObject[];

/** Kinds with an effect; objects of other kinds are skipped. */
const KINDS: Readonly<Record<string, Kind>> = {
  ...objectsOf('v1', 'ConfigMap', configMap),
  ...objectsOf('batch/v1', 'CronJob', cronJob),
  ...objectsOf('storage.k8s.io/v1', 'CSIDriver', csiDriver),
  ...objectsOf('apps/v1', 'DaemonSet', daemonSet),
  ...objectsOf('apps/v1', 'Deployment', deployment),
  ...objectsOf('batch/v1', 'Job', job),
  ...withOlder(objectsOf('resource.k8s.io/v1', 'DeviceClass', deviceClass), {
    'resource.k8s.io/v1beta1': asNewest,
    'resource.k8s.io/v1beta2': asNewest,
  }),
  List: {apiVersion: 'v1', read: (node, path, decoder) => readList(node, path, decoder)},
  ...objectsOf('v1', 'PersistentVolume', manifestVolume),
  ...objectsOf('v1', 'PersistentVolumeClaim', manifestClaim),
  ...objectsOf('v1', 'Pod', pod),
  ...objectsOf('v1', 'PodTemplate', podTemplate),
  ...objectsOf('apps/v1', 'ReplicaSet', replicaSet),
  ...objectsOf('v1', 'ReplicationController', replicationController),
  ...withOlder(objectsOf('resource.k8s.io/v1', 'ResourceClaim', manifestResourceClaim), {
    'resource.k8s.io/v1beta1': converted(betaResourceClaim, convertBetaClaim),
    'resource.k8s.io/v1beta2': asNewest,
  }),
  ...withOlder(objectsOf('resource.k8s.io/v1', 'ResourceClaimTemplate', resourceClaimTemplate), {
    'resource.k8s.io/v1beta1': converted(betaResourceClaimTemplate, convertBetaTemplate),
    'resource.k8s.io/v1beta2': asNewest,
  }),
  ...withOlder(objectsOf('resource.k8s.io/v1', 'ResourceSlice', resourceSlice), {
    'resource.k8s.io/v1beta1': converted(betaResourceSlice, convertBetaSlice),
    'resource.k8s.io/v1beta2': asNewest,
  }),
  ...objectsOf('node.k8s.io/v1', 'RuntimeClass', runtimeClass),
  ...objectsOf('v1', 'Secret', secret),
  ...objectsOf('v1', 'Service', service),
  ...objectsOf('v1', 'ServiceAccount', serviceAccount),
  ...objectsOf('apps/v1', 'StatefulSet', statefulSet),
  ...objectsOf('storage.k8s.io/v1', 'StorageClass', storageClass),
  ...withOlder(objectsOf('storage.k8s.io/v1', 'VolumeAttributesClass', volumeAttributesClass), {
    'storage.k8s.io/v1beta1': asNewest,
  }),
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

/** Reads an object of an older version; `newest` reads the current one. */
type ReadOlder = (newest: ReadObjects) => ReadObjects;

/** Reads an older version that has the fields of the current one. */
function asNewest(newest: ReadObjects): ReadObjects {
  return newest;
}

/** Returns how an older version with fields of its own is read. */
function converted<T>(schema: ObjectSchema<T>, convert: (older: T) => ManifestObject): ReadOlder {
  return () => (node, path, decoder) => [{object: convert(decoder.decode(schema, node, path)), node, path}];
}

/** Returns kinds that older versions are read of too. */
function withOlder(
  kinds: Readonly<Record<string, Kind>>,
  versions: Readonly<Record<string, ReadOlder>>,
): Readonly<Record<string, Kind>> {
  return Object.fromEntries(
    Object.entries(kinds).map(([name, kind]) => {
      const isList = name.endsWith('List');
      const older: Readonly<Record<string, ReadObjects>> = Object.fromEntries(
        Object.entries(versions).map(([version, read]) => [version, isList ? kind.read : read(kind.read)]),
      );
      return [name, {...kind, older}];
    }),
  );
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

/**
 * Returns the objects of a document or list item, including those without effect; anything else becomes a problem of
 * the decoder.
 */
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
  const version = textField(node, 'apiVersion') ?? (impliedKind && kind?.apiVersion);
  const read = kind && readOf(kind, version);
  if (read !== undefined) return read(node, path, decoder);
  return readForeign(node, path, decoder, {name, version});
}

/** Returns how a version of a kind is read; undefined for one that is not supported. */
function readOf({apiVersion, read, older = {}}: Kind, version: string | undefined): ReadObjects | undefined {
  if (version === apiVersion) return read;
  return version !== undefined && Object.hasOwn(older, version) ? older[version] : undefined;
}

/** Returns an object without effect; reports a misspelled kind and an unsupported version. */
function readForeign(
  node: MapNode,
  path: FieldPath,
  decoder: Decoder,
  {name, version}: {readonly name: string | undefined; readonly version: string | undefined},
): readonly DecodedObject[] {
  if (name !== undefined && version !== undefined && isForeign(name, version))
    return [{object: {kind: 'Skipped', skippedKind: name, name: nameOf(node)}, node, path}];
  const kind = name !== undefined && Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
  if (kind === undefined) return refuse(decoder, node, path.child('kind'), unknownKind(name, path));
  const at = path.child('apiVersion');
  return refuse(decoder, node, at, unsupported(version, [kind.apiVersion], at));
}

function unsupported(found: string | undefined, known: readonly string[], path: FieldPath): FieldError {
  return found === undefined ? requiredValue(path) : unsupportedValue(path, found, known);
}

/** Returns the error for a kind that is missing, misspelled or malformed. */
function unknownKind(found: string | undefined, parent: FieldPath): FieldError {
  const path = parent.child('kind');
  const known = Object.keys(KINDS);
  const guess = found === undefined ? undefined : findClosestMatch(found, known);
  if (found === undefined || guess === undefined) return unsupported(found, known, path);
  const message = `Unsupported value: ${JSON.stringify(found)}, did you mean ${JSON.stringify(guess)}?`;
  return {path, message};
}

/** API groups of Kubernetes; those that end in `.k8s.io` are not listed. */
const KUBERNETES_GROUPS: readonly string[] = ['', 'apps', 'autoscaling', 'batch', 'extensions', 'policy'];

/**
 * Reports whether an object is of a kind without effect: of an API group of its own, or a kind of Kubernetes. A
 * misspelled kind and an unsupported version are errors.
 */
function isForeign(kind: string, version: string): boolean {
  if (!/^[A-Z][A-Za-z0-9]{0,62}$/.test(kind)) return false;
  const group = version.includes('/') ? version.slice(0, version.indexOf('/')) : '';
  if (!KUBERNETES_GROUPS.includes(group) && !group.endsWith('.k8s.io')) return true;
  if (Object.hasOwn(KINDS, kind)) return false;
  return OTHER_KINDS.has(kind) || findClosestMatch(kind, Object.keys(KINDS)) === undefined;
}

/** Returns the name of an object without effect, which is not validated; empty if it is not fit for messages. */
function nameOf(node: MapNode): string {
  const metadata = node.entries.get('metadata')?.value;
  const name = (metadata?.kind === 'map' ? textField(metadata, 'name') : undefined) ?? '';
  return /^[\w.:-]{1,253}$/.test(name) ? name : '';
}

function textField(node: MapNode, name: string): string | undefined {
  const value = node.entries.get(name)?.value;
  return value?.kind === 'scalar' && value.value !== null ? String(value.value) : undefined;
}

function refuse(
  decoder: Decoder,
  node: MapNode,
  path: FieldPath,
  error: FieldError,
): readonly DecodedObject[] {
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
