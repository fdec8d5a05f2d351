import {
  type Described,
  anything,
  bool,
  enumeration,
  int64,
  list,
  map,
  object,
  required,
  schemaOf,
  text,
} from '../schema/object-schema.js';
import {objectMeta} from './v1-meta.js';

/** A way to create volumes on demand (storage.k8s.io/v1 StorageClass, cluster-scoped). */
export interface StorageClass extends Described<typeof storageClass> {}
export const storageClass = schemaOf<StorageClass>('StorageClass')({
  apiVersion: required(enumeration(['storage.k8s.io/v1'])),
  kind: required(enumeration(['StorageClass'])),
  metadata: required(object(objectMeta)),
  provisioner: required(text),
  parameters: map(text),
  /** `Delete` by default. */
  reclaimPolicy: text,
  mountOptions: list(text),
  allowVolumeExpansion: bool,
  /** Has no effect on one node: volumes are created for the first pod that uses their claim. */
  volumeBindingMode: text,
  allowedTopologies: anything,
});

/** Attributes of volumes that can be changed later (storage.k8s.io/v1 VolumeAttributesClass, cluster-scoped). */
export interface VolumeAttributesClass extends Described<typeof volumeAttributesClass> {}
export const volumeAttributesClass = schemaOf<VolumeAttributesClass>('VolumeAttributesClass')({
  apiVersion: required(enumeration(['storage.k8s.io/v1'])),
  kind: required(enumeration(['VolumeAttributesClass'])),
  metadata: required(object(objectMeta)),
  driverName: required(text),
  parameters: map(text),
});

/** A token that a driver wants of the service account of each pod. */
export interface TokenRequest extends Described<typeof tokenRequest> {}
const tokenRequest = schemaOf<TokenRequest>('TokenRequest')({
  audience: required(text),
  expirationSeconds: int64,
});

/** Properties of a CSI driver that a node needs. */
export interface CSIDriverSpec extends Described<typeof csiDriverSpec> {}
const csiDriverSpec = schemaOf<CSIDriverSpec>('CSIDriverSpec')({
  attachRequired: bool,
  podInfoOnMount: bool,
  volumeLifecycleModes: list(text),
  storageCapacity: bool,
  fsGroupPolicy: text,
  tokenRequests: list(object(tokenRequest)),
  serviceAccountTokenInSecrets: bool,
  requiresRepublish: bool,
  seLinuxMount: bool,
  nodeAllocatableUpdatePeriodSeconds: int64,
});

/** Describes a CSI driver to the kubelet (storage.k8s.io/v1 CSIDriver, cluster-scoped). */
export interface CSIDriver extends Described<typeof csiDriver> {}
export const csiDriver = schemaOf<CSIDriver>('CSIDriver')({
  apiVersion: required(enumeration(['storage.k8s.io/v1'])),
  kind: required(enumeration(['CSIDriver'])),
  metadata: required(object(objectMeta)),
  spec: required(object(csiDriverSpec)),
});
