import {
  type Described,
  bool,
  bytes,
  enumeration,
  list,
  map,
  object,
  quantity,
  required,
  schemaOf,
  secretText,
  text,
} from '../schema/object-schema.js';
import type {
  DeviceClass,
  ManifestResourceClaim,
  ResourceClaimTemplate,
  ResourceSlice,
} from './v1-device-resources.js';
import {localObjectReference, objectMeta, objectReference} from './v1-meta.js';
import type {ManifestClaim, ManifestVolume} from './v1-persistent-volumes.js';
import {toleration} from './v1-scheduling.js';
import type {Service} from './v1-services.js';
import type {CSIDriver, StorageClass, VolumeAttributesClass} from './v1-storage.js';

/** Texts and bytes by key, for environments and volumes (core/v1 ConfigMap). */
export interface ConfigMap extends Described<typeof configMap> {}
export const configMap = schemaOf<ConfigMap>('ConfigMap')({
  apiVersion: required(enumeration(['v1'])),
  kind: required(enumeration(['ConfigMap'])),
  metadata: required(object(objectMeta)),
  immutable: bool,
  data: map(text),
  /** Written in base64. */
  binaryData: map(bytes),
});

/** Secret data by key (core/v1 Secret). */
export interface Secret extends Described<typeof secret> {}
export const secret = schemaOf<Secret>('Secret')({
  apiVersion: required(enumeration(['v1'])),
  kind: required(enumeration(['Secret'])),
  metadata: required(object(objectMeta)),
  immutable: bool,
  /** Written in base64. */
  data: map(bytes),
  /** Plain text; defaulting moves it into `data`, where it takes precedence. */
  stringData: map(secretText),
  type: text,
});

/** Identity of a pod (core/v1 ServiceAccount). */
export interface ServiceAccount extends Described<typeof serviceAccount> {}
export const serviceAccount = schemaOf<ServiceAccount>('ServiceAccount')({
  apiVersion: required(enumeration(['v1'])),
  kind: required(enumeration(['ServiceAccount'])),
  metadata: required(object(objectMeta)),
  secrets: list(object(objectReference)),
  imagePullSecrets: list(object(localObjectReference)),
  automountServiceAccountToken: bool,
});

/** Resources that pods of a RuntimeClass need in addition to their containers. */
export interface Overhead extends Described<typeof overhead> {}
const overhead = schemaOf<Overhead>('Overhead')({
  podFixed: map(quantity),
});

/** Nodes that can run pods of a RuntimeClass. */
export interface Scheduling extends Described<typeof scheduling> {}
const scheduling = schemaOf<Scheduling>('Scheduling')({
  nodeSelector: map(text),
  tolerations: list(object(toleration)),
});

/** A runtime handler and its requirements (node.k8s.io/v1 RuntimeClass, cluster-scoped). */
export interface RuntimeClass extends Described<typeof runtimeClass> {}
export const runtimeClass = schemaOf<RuntimeClass>('RuntimeClass')({
  apiVersion: required(enumeration(['node.k8s.io/v1'])),
  kind: required(enumeration(['RuntimeClass'])),
  metadata: required(object(objectMeta)),
  handler: required(text),
  overhead: object(overhead),
  scheduling: object(scheduling),
});

/** An object that a Pod may refer to, or that selects Pods. */
export type ApiObject =
  | ConfigMap
  | Secret
  | ServiceAccount
  | RuntimeClass
  | Service
  | ManifestClaim
  | ManifestVolume
  | StorageClass
  | VolumeAttributesClass
  | CSIDriver
  | ManifestResourceClaim
  | ResourceClaimTemplate
  | DeviceClass
  | ResourceSlice;

/** Kinds of objects that belong to no namespace. */
const CLUSTER_SCOPED: ReadonlySet<ApiObject['kind']> = new Set([
  'CSIDriver',
  'DeviceClass',
  'PersistentVolume',
  'ResourceSlice',
  'RuntimeClass',
  'StorageClass',
  'VolumeAttributesClass',
]);

/** Reports whether an object belongs to no namespace. */
export function isClusterScoped({kind}: Pick<ApiObject, 'kind'>): boolean {
  return CLUSTER_SCOPED.has(kind);
}
