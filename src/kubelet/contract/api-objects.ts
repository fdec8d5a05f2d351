import {bindClaims, withDefaultClass, type BoundClaims} from '../../api/claims/bind-claims.js';
import {translatePersistentVolume} from '../../api/csi-migration/migrated-volume.js';
import type {PersistentVolumeClaimSpec} from '../../api/types/v1-attached-volumes.js';
import {
  isClusterScoped,
  type ApiObject,
  type ConfigMap,
  type RuntimeClass,
  type Secret,
  type ServiceAccount,
} from '../../api/types/v1-objects.js';
import type {HostAlias, Pod} from '../../api/types/v1-pod.js';
import type {ServiceAccountTokenProjection, Volume} from '../../api/types/v1-volumes.js';
import {volumeUses} from '../../api/used-volumes.js';
import {KcriError, SystemError} from '../../base/errors.js';
import {checkVolumeMode} from './volumes/check-volume-mode.js';
import type {CSIDriver, StorageClass, VolumeAttributesClass} from '../../api/types/v1-storage.js';
import {createDeviceObjects, NO_DEVICE_OBJECTS, type DeviceObjects} from './resources/device-objects.js';
import type {EventSink} from './pod-event.js';
import type {ClaimedVolume, ClaimToProvision} from './volumes/claimed-volume.js';

/**
 * API objects that Pods refer to: those from the manifests, validated and with API defaults, in place of an API
 * server. Lookups return undefined for a missing object.
 */
export interface ApiObjects {
  /** Files that were read, as the user named them, for messages about missing objects. */
  readonly sources: readonly string[];
  configMap(namespace: string, name: string): ConfigMap | undefined;
  /** Returns a Secret. Its values must only reach its pod: never a message, log, plan or record. */
  secret(namespace: string, name: string): Secret | undefined;
  serviceAccount(namespace: string, name: string): ServiceAccount | undefined;
  /** Returns a RuntimeClass; RuntimeClasses have no namespace. */
  runtimeClass(name: string): RuntimeClass | undefined;
  /** Reads the objects again from their source, if possible; objects that cannot be read remain unchanged. */
  refresh?(): Promise<void>;
  /**
   * Reads the objects that this pod refers to, if they come from an API server. Rejects with the signal's reason, and if
   * the pod cannot have a token.
   */
  load?(pod: Pod, use: ObjectUse, signal: AbortSignal): Promise<void>;
  /** Returns the reason why an object is not known that may exist; undefined if it exists or is known to be missing. */
  failure?(kind: 'ConfigMap' | 'Secret', namespace: string, name: string): KcriError | undefined;
  /** Returns the variables of Services for the containers of the pod, by name; undefined without Services. */
  serviceVariables?(pod: Pod): ReadonlyMap<string, string>;
  /** Returns the names of Services for the hosts file of the pod; undefined if its DNS resolves them. */
  serviceHosts?(pod: Pod): readonly HostAlias[];
  /**
   * Called when the sandbox of the pod has these addresses, before containers start. Resolves when the variables and
   * names of Services may be read. Rejects with the signal's reason.
   */
  sandboxReady?(pod: Pod, ips: readonly string[], signal: AbortSignal): Promise<void>;
  /** Returns the token for a volume of the pod; undefined without an API server that issues tokens. */
  serviceAccountToken?(pod: Pod, projection: ServiceAccountTokenProjection): string | undefined;
  /**
   * Returns the PersistentVolume of a volume with a claim; undefined for a volume without one, and for a claim that is a
   * directory of the node. Throws SystemError with the kubelet's message if the claim cannot be used.
   */
  claimedVolume?(pod: Pod, volume: Volume): ClaimedVolume | undefined;
  /** Returns the claim of a volume for which a CSI driver of this node has to create a volume; undefined for others. */
  claimToProvision?(pod: Pod, volume: Volume): ClaimToProvision | undefined;
  /** Returns the spec of a claim in the manifests. */
  claimSpec?(namespace: string, name: string): PersistentVolumeClaimSpec | undefined;
  /** Returns a VolumeAttributesClass of the manifests. */
  volumeAttributesClass?(name: string): VolumeAttributesClass | undefined;
  /** Returns the CSIDriver object of a driver in the manifests. */
  csiDriver?(name: string): CSIDriver | undefined;
  /** Returns the objects of resource.k8s.io in the manifests. */
  deviceObjects?(): DeviceObjects;
}

/** Use of objects: to start containers, or only to refresh the volumes of running ones. */
export interface ObjectUse {
  readonly volumesOnly: boolean;
  /** Receives what happens to volumes that are created for the pod; nothing by default. */
  readonly events?: EventSink;
}

/** Namespace of namespaced objects that name none. */
const DEFAULT_NAMESPACE = 'default';

/**
 * Creates a lookup of objects by kind, namespace and name; an object without a namespace is in `default`, like its
 * Pod.
 */
export function createApiObjects(objects: readonly ApiObject[], sources: readonly string[]): ApiObjects {
  const found = new Map(objects.map((object) => [getObjectKey(object), object]));
  const find = <K extends ApiObject['kind']>(kind: K, namespace: string, name: string) =>
    // The key starts with the kind.
    found.get(`${kind}/${namespace}/${name}`) as Extract<ApiObject, {readonly kind: K}> | undefined;
  const claims = bindClaims(objects);
  const classes = objects.flatMap((object) => (object.kind === 'StorageClass' ? [object] : []));
  const volumeAttributesClass = (name: string): VolumeAttributesClass | undefined =>
    find('VolumeAttributesClass', '', name);
  const toProvision = (pod: Pod, volume: Volume): ClaimToProvision | undefined => {
    const claim = findClaimToProvision(claims, classes, pod, volume);
    return claim && {...claim, attributesClass: attributesClassOf(claim, {volumeAttributesClass})};
  };
  const deviceObjects = createDeviceObjects(objects);
  return {
    sources,
    claimedVolume: (pod, volume) => findClaimedVolume(claims, pod, volume),
    claimToProvision: toProvision,
    claimSpec: (namespace, name) => find('PersistentVolumeClaim', namespace, name)?.spec,
    volumeAttributesClass,
    csiDriver: (name) => find('CSIDriver', '', name),
    deviceObjects: () => deviceObjects,
    configMap: (namespace, name) => find('ConfigMap', namespace, name),
    secret: (namespace, name) => find('Secret', namespace, name),
    serviceAccount: (namespace, name) => find('ServiceAccount', namespace, name),
    runtimeClass: (name) => find('RuntimeClass', '', name),
  };
}

/** Returns the lookups of objects that are replaced by others. */
export function currentObjects(current: () => ApiObjects): Omit<ApiObjects, 'sources'> {
  return {
    configMap: (namespace, name) => current().configMap(namespace, name),
    secret: (namespace, name) => current().secret(namespace, name),
    serviceAccount: (namespace, name) => current().serviceAccount(namespace, name),
    runtimeClass: (name) => current().runtimeClass(name),
    claimedVolume: (pod, volume) => current().claimedVolume?.(pod, volume),
    claimToProvision: (pod, volume) => current().claimToProvision?.(pod, volume),
    claimSpec: (namespace, name) => current().claimSpec?.(namespace, name),
    volumeAttributesClass: (name) => current().volumeAttributesClass?.(name),
    csiDriver: (name) => current().csiDriver?.(name),
    deviceObjects: () => current().deviceObjects?.() ?? NO_DEVICE_OBJECTS,
  };
}

/** Returns the PersistentVolume that a claim is bound to; undefined for a claim that is a directory. */
function findClaimedVolume(
  claims: BoundClaims,
  pod: Pod,
  {name, persistentVolumeClaim: source}: Volume,
): ClaimedVolume | undefined {
  if (source === undefined) return undefined;
  const bound = claims.get(`${pod.metadata.namespace ?? DEFAULT_NAMESPACE}/${source.claimName}`);
  if (bound === undefined || bound.kind === 'provisioned') return undefined;
  if (bound.kind === 'unbound') throw new SystemError(`${bound.claim}: ${bound.problem.message}`);
  const volume = translatePersistentVolume(bound.volume);
  checkVolumeMode(volume, name, volumeUses(pod));
  const isMigrated = volume !== bound.volume;
  return {volume, ...(isMigrated && {isMigrated}), readOnly: source.readOnly === true, isOnNode: true};
}

/** Returns what claimToProvision does; the claim of a generic ephemeral volume has the name of pod and volume. */
function findClaimToProvision(
  claims: BoundClaims,
  classes: readonly StorageClass[],
  {metadata}: Pod,
  {name, persistentVolumeClaim: source, ephemeral}: Volume,
): ClaimToProvision | undefined {
  const {namespace = DEFAULT_NAMESPACE, uid = ''} = metadata;
  if (source !== undefined) {
    const bound = claims.get(`${namespace}/${source.claimName}`);
    if (bound?.kind !== 'provisioned') return undefined;
    const {claim, storageClass} = bound;
    return {
      namespace,
      name: source.claimName,
      spec: claim.spec,
      storageClass,
      readOnly: source.readOnly === true,
    };
  }
  if (ephemeral?.volumeClaimTemplate === undefined) return undefined;
  const {spec} = withDefaultClass(ephemeral.volumeClaimTemplate, classes);
  const storageClass = classes.find((one) => one.metadata.name === spec.storageClassName);
  return {namespace, name: `${metadata.name}-${name}`, spec, storageClass, readOnly: false, ownerUid: uid};
}

/** Returns the class of attributes that a claim names. */
export function attributesClassOf(
  {spec: {volumeAttributesClassName: name = ''}}: Pick<ClaimToProvision, 'spec'>,
  {volumeAttributesClass}: Pick<ApiObjects, 'volumeAttributesClass'>,
): VolumeAttributesClass | undefined {
  return name === '' ? undefined : volumeAttributesClass?.(name);
}

/** Returns `Kind/namespace/name`, equal for two documents of one object. */
export function getObjectKey(object: ApiObject): string {
  const {kind, metadata} = object;
  const {name = '', namespace = ''} = metadata;
  const where = isClusterScoped(object) ? '' : namespace === '' ? DEFAULT_NAMESPACE : namespace;
  return `${kind}/${where}/${name}`;
}

/** No objects, for pods without references. */
export const NO_OBJECTS: ApiObjects = createApiObjects([], []);

/** Returns the objects of the manifests and of a cluster; those of the cluster take precedence. */
export function withClusterObjects(manifests: ApiObjects, cluster: ApiObjects | undefined): ApiObjects {
  if (cluster === undefined) return manifests;
  return {
    sources: [...manifests.sources, ...cluster.sources],
    configMap: (...key) => cluster.configMap(...key) ?? manifests.configMap(...key),
    secret: (...key) => cluster.secret(...key) ?? manifests.secret(...key),
    serviceAccount: (...key) => cluster.serviceAccount(...key) ?? manifests.serviceAccount(...key),
    runtimeClass: (name) => cluster.runtimeClass(name) ?? manifests.runtimeClass(name),
    load: async (...call) => cluster.load?.(...call),
    failure: (...key) => cluster.failure?.(...key),
    serviceVariables: (pod) => cluster.serviceVariables?.(pod) ?? new Map(),
    serviceAccountToken: (...key) => cluster.serviceAccountToken?.(...key),
    claimedVolume: (...key) => cluster.claimedVolume?.(...key),
  };
}

/**
 * Reports that an object a Pod refers to does not exist, in the API server's wording; the hint lists the sources that
 * were searched.
 */
export class ObjectNotFoundError extends KcriError {
  readonly code = 'OBJECT_NOT_FOUND';
}

/** Resource names of the kinds in API server messages. */
const RESOURCES = {
  ConfigMap: 'configmap',
  Secret: 'secret',
  ServiceAccount: 'serviceaccount',
  RuntimeClass: 'runtimeclass.node.k8s.io',
  Service: 'service',
  PersistentVolume: 'persistentvolume',
  PersistentVolumeClaim: 'persistentvolumeclaim',
  StorageClass: 'storageclass.storage.k8s.io',
  CSIDriver: 'csidriver.storage.k8s.io',
  VolumeAttributesClass: 'volumeattributesclass.storage.k8s.io',
  ResourceClaim: 'resourceclaim.resource.k8s.io',
  ResourceClaimTemplate: 'resourceclaimtemplate.resource.k8s.io',
  DeviceClass: 'deviceclass.resource.k8s.io',
  ResourceSlice: 'resourceslice.resource.k8s.io',
} as const satisfies Record<ApiObject['kind'], string>;

/** A reference of a pod to a ConfigMap or Secret. */
export interface DataReference {
  readonly namespace: string;
  readonly name: string;
  readonly optional: boolean;
}

/**
 * Returns the ConfigMap that a pod refers to; undefined for an optional one that is missing. Throws ObjectNotFoundError
 * for a missing one, and the KcriError of an object that could not be read.
 */
export function findConfigMap(objects: ApiObjects, reference: DataReference): ConfigMap | undefined {
  const found = objects.configMap(reference.namespace, reference.name);
  if (found === undefined) requireKnownMissing(objects, 'ConfigMap', reference);
  return found;
}

/** Returns the Secret that a pod refers to; see findConfigMap. */
export function findSecret(objects: ApiObjects, reference: DataReference): Secret | undefined {
  const found = objects.secret(reference.namespace, reference.name);
  if (found === undefined) requireKnownMissing(objects, 'Secret', reference);
  return found;
}

/** Throws unless an object is optional and known to be missing. */
function requireKnownMissing(
  objects: ApiObjects,
  kind: 'ConfigMap' | 'Secret',
  {namespace, name, optional}: DataReference,
): void {
  // Even an optional object may exist if the API server did not say that it does not.
  const failure = objects.failure?.(kind, namespace, name);
  if (failure !== undefined) throw failure;
  if (!optional) throw createObjectNotFoundError(objects, kind, name, namespace);
}

/** Creates the error `configmap "settings" not found`. */
export function createObjectNotFoundError(
  {sources}: ApiObjects,
  kind: ApiObject['kind'],
  name: string,
  namespace?: string,
): ObjectNotFoundError {
  const where = sources.length === 0 ? 'no manifests were read' : `searched: ${sources.join(', ')}`;
  const full = namespace === undefined ? name : `${namespace}/${name}`;
  return new ObjectNotFoundError(`${RESOURCES[kind]} ${JSON.stringify(name)} not found`, {
    hint: `add the ${kind} "${full}" to the Pod's manifests (${where})`,
  });
}
