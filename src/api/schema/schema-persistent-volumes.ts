import type {
  CSIPersistentVolumeSource,
  LocalVolumeSource,
  ManifestClaim,
  ManifestVolume,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeClaimStatus,
  PersistentVolumeSpec,
  VolumeNodeAffinity,
} from '../types/v1-persistent-volumes.js';
import {ACCESS_MODES, VOLUME_MODES} from '../types/v1-attached-volumes.js';
import {
  anything,
  bool,
  enumeration,
  list,
  map,
  object,
  objectSchema,
  quantity,
  required,
  text,
} from './object-schema.js';
import {nfsVolumeSource, persistentVolumeClaimSpec} from './schema-attached-volumes.js';
import {objectMeta} from './schema-meta.js';
import {objectReference} from './schema-objects.js';
import {nodeSelector} from './schema-scheduling.js';
import {hostPathVolumeSource} from './schema-volumes.js';

// The fields of the types in v1-persistent-volumes.ts, in upstream's order.

const persistentVolumeClaimStatus = objectSchema<PersistentVolumeClaimStatus>('PersistentVolumeClaimStatus', {
  phase: text,
});

export const persistentVolumeClaim = objectSchema<PersistentVolumeClaim>('PersistentVolumeClaim', {
  apiVersion: text,
  kind: text,
  metadata: required(object(objectMeta)),
  spec: required(object(persistentVolumeClaimSpec)),
  status: object(persistentVolumeClaimStatus),
});

export const manifestClaim = objectSchema<ManifestClaim>('PersistentVolumeClaim', {
  ...persistentVolumeClaim.fields,
  apiVersion: required(enumeration(['v1'])),
  kind: required(enumeration(['PersistentVolumeClaim'])),
});

const localVolumeSource = objectSchema<LocalVolumeSource>('LocalVolumeSource', {
  path: required(text),
  fsType: text,
});

const csiPersistentVolumeSource = objectSchema<CSIPersistentVolumeSource>('CSIPersistentVolumeSource', {
  driver: required(text),
  volumeHandle: text,
  readOnly: bool,
  fsType: text,
  volumeAttributes: map(text),
  controllerPublishSecretRef: anything,
  nodeStageSecretRef: anything,
  nodePublishSecretRef: anything,
  controllerExpandSecretRef: anything,
  nodeExpandSecretRef: anything,
});

const volumeNodeAffinity = objectSchema<VolumeNodeAffinity>('VolumeNodeAffinity', {
  required: object(nodeSelector),
});

const persistentVolumeSpec = objectSchema<PersistentVolumeSpec>('PersistentVolumeSpec', {
  capacity: map(quantity),
  gcePersistentDisk: anything,
  awsElasticBlockStore: anything,
  hostPath: object(hostPathVolumeSource),
  glusterfs: anything,
  nfs: object(nfsVolumeSource),
  rbd: anything,
  iscsi: anything,
  cinder: anything,
  cephfs: anything,
  fc: anything,
  flocker: anything,
  flexVolume: anything,
  azureFile: anything,
  vsphereVolume: anything,
  quobyte: anything,
  azureDisk: anything,
  photonPersistentDisk: anything,
  portworxVolume: anything,
  scaleIO: anything,
  local: object(localVolumeSource),
  storageos: anything,
  csi: object(csiPersistentVolumeSource),
  accessModes: list(enumeration(ACCESS_MODES)),
  claimRef: object(objectReference),
  persistentVolumeReclaimPolicy: text,
  storageClassName: text,
  mountOptions: list(text),
  volumeMode: enumeration(VOLUME_MODES),
  nodeAffinity: object(volumeNodeAffinity),
  volumeAttributesClassName: text,
});

export const persistentVolume = objectSchema<PersistentVolume>('PersistentVolume', {
  metadata: required(object(objectMeta)),
  spec: required(object(persistentVolumeSpec)),
});

export const manifestVolume = objectSchema<ManifestVolume>('PersistentVolume', {
  apiVersion: required(enumeration(['v1'])),
  kind: required(enumeration(['PersistentVolume'])),
  ...persistentVolume.fields,
  status: anything,
});
