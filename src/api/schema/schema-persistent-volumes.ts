import type {
  CSIPersistentVolumeSource,
  LocalVolumeSource,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeClaimStatus,
  PersistentVolumeSpec,
  VolumeNodeAffinity,
} from '../types/v1-persistent-volumes.js';
import {ACCESS_MODES, VOLUME_MODES} from '../types/v1-attached-volumes.js';
import {enumeration, list, map, object, objectSchema, quantity, required, text} from './object-schema.js';
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

const localVolumeSource = objectSchema<LocalVolumeSource>('LocalVolumeSource', {
  path: required(text),
  fsType: text,
});

const csiPersistentVolumeSource = objectSchema<CSIPersistentVolumeSource>('CSIPersistentVolumeSource', {
  driver: required(text),
});

const volumeNodeAffinity = objectSchema<VolumeNodeAffinity>('VolumeNodeAffinity', {
  required: object(nodeSelector),
});

const persistentVolumeSpec = objectSchema<PersistentVolumeSpec>('PersistentVolumeSpec', {
  capacity: map(quantity),
  hostPath: object(hostPathVolumeSource),
  nfs: object(nfsVolumeSource),
  local: object(localVolumeSource),
  csi: object(csiPersistentVolumeSource),
  accessModes: list(enumeration(ACCESS_MODES)),
  claimRef: object(objectReference),
  mountOptions: list(text),
  volumeMode: enumeration(VOLUME_MODES),
  nodeAffinity: object(volumeNodeAffinity),
});

export const persistentVolume = objectSchema<PersistentVolume>('PersistentVolume', {
  metadata: required(object(objectMeta)),
  spec: required(object(persistentVolumeSpec)),
});
