import {
  type Described,
  anything,
  bool,
  enumeration,
  list,
  map,
  object,
  quantity,
  required,
  schemaOf,
  text,
} from '../schema/object-schema.js';
import {
  ACCESS_MODES,
  VOLUME_MODES,
  fcVolumeSource,
  flexVolumeSource,
  iscsiVolumeSource,
  nfsVolumeSource,
  persistentVolumeClaimSpec,
} from './v1-attached-volumes.js';
import {localObjectReference, objectMeta, objectReference} from './v1-meta.js';
import {nodeSelector} from './v1-scheduling.js';
import {hostPathVolumeSource} from './v1-volumes.js';

/** Phase of a claim, as far as a kubelet distinguishes it: `Bound` or another, and the size of its volume. */
export interface PersistentVolumeClaimStatus extends Described<typeof persistentVolumeClaimStatus> {}
const persistentVolumeClaimStatus = schemaOf<PersistentVolumeClaimStatus>('PersistentVolumeClaimStatus')({
  phase: text,
  capacity: map(quantity),
});

/** A user's claim to a PersistentVolume (core/v1 PersistentVolumeClaim). */
export interface PersistentVolumeClaim extends Described<typeof persistentVolumeClaim> {}
export const persistentVolumeClaim = schemaOf<PersistentVolumeClaim>('PersistentVolumeClaim')({
  apiVersion: text,
  kind: text,
  metadata: required(object(objectMeta)),
  spec: required(object(persistentVolumeClaimSpec)),
  status: object(persistentVolumeClaimStatus),
});

/** A claim of a manifest. */
export interface ManifestClaim extends Described<typeof manifestClaim> {}
export const manifestClaim = schemaOf<ManifestClaim>('PersistentVolumeClaim')({
  ...persistentVolumeClaim.fields,
  apiVersion: required(enumeration(['v1'])),
  kind: required(enumeration(['PersistentVolumeClaim'])),
});

/** A directory or block device of one node. */
export interface LocalVolumeSource extends Described<typeof localVolumeSource> {}
const localVolumeSource = schemaOf<LocalVolumeSource>('LocalVolumeSource')({
  path: required(text),
  fsType: text,
});

/** A Secret in any namespace (core/v1 SecretReference). */
export interface SecretReference extends Described<typeof secretReference> {}
const secretReference = schemaOf<SecretReference>('SecretReference')({
  name: required(text),
  namespace: required(text),
});

/** A Secret with a namespace, which defaults to that of the pod. */
export interface PodOrOtherSecretReference extends Described<typeof podOrOtherSecretReference> {}
const podOrOtherSecretReference = schemaOf<PodOrOtherSecretReference>('SecretReference')({
  ...localObjectReference.fields,
  namespace: text,
});

/** An iSCSI LUN of a PersistentVolume, whose Secret can be in any namespace. */
export interface ISCSIPersistentVolumeSource extends Described<typeof iscsiPersistentVolumeSource> {}
const iscsiPersistentVolumeSource = schemaOf<ISCSIPersistentVolumeSource>('ISCSIPersistentVolumeSource')({
  ...iscsiVolumeSource.fields,
  secretRef: object(podOrOtherSecretReference),
});

/** A volume of an exec-style driver, whose Secret can be in any namespace. */
export interface FlexPersistentVolumeSource extends Described<typeof flexPersistentVolumeSource> {}
const flexPersistentVolumeSource = schemaOf<FlexPersistentVolumeSource>('FlexPersistentVolumeSource')({
  ...flexVolumeSource.fields,
  secretRef: object(podOrOtherSecretReference),
});

/** A volume of a CSI driver. */
export interface CSIPersistentVolumeSource extends Described<typeof csiPersistentVolumeSource> {}
const csiPersistentVolumeSource = schemaOf<CSIPersistentVolumeSource>('CSIPersistentVolumeSource')({
  driver: required(text),
  volumeHandle: text,
  readOnly: bool,
  fsType: text,
  volumeAttributes: map(text),
  controllerPublishSecretRef: anything,
  nodeStageSecretRef: object(secretReference),
  nodePublishSecretRef: object(secretReference),
  controllerExpandSecretRef: anything,
  nodeExpandSecretRef: object(secretReference),
});

/** Nodes from which a PersistentVolume can be accessed. */
export interface VolumeNodeAffinity extends Described<typeof volumeNodeAffinity> {}
const volumeNodeAffinity = schemaOf<VolumeNodeAffinity>('VolumeNodeAffinity')({
  required: object(nodeSelector),
});

/** Sources of PersistentVolumes that Kubernetes has removed. */
export const REMOVED_VOLUME_SOURCES = [
  'glusterfs',
  'rbd',
  'cephfs',
  'flocker',
  'quobyte',
  'photonPersistentDisk',
  'scaleIO',
  'storageos',
] as const;

/** Source and use of a PersistentVolume. */
export interface PersistentVolumeSpec extends Described<typeof persistentVolumeSpec> {}
const persistentVolumeSpec = schemaOf<PersistentVolumeSpec>('PersistentVolumeSpec')({
  capacity: map(quantity),
  gcePersistentDisk: anything,
  awsElasticBlockStore: anything,
  hostPath: object(hostPathVolumeSource),
  glusterfs: anything,
  nfs: object(nfsVolumeSource),
  rbd: anything,
  iscsi: object(iscsiPersistentVolumeSource),
  cinder: anything,
  cephfs: anything,
  fc: object(fcVolumeSource),
  flocker: anything,
  flexVolume: object(flexPersistentVolumeSource),
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

/** Storage that outlives pods (core/v1 PersistentVolume). */
export interface PersistentVolume extends Described<typeof persistentVolume> {}
export const persistentVolume = schemaOf<PersistentVolume>('PersistentVolume')({
  metadata: required(object(objectMeta)),
  spec: required(object(persistentVolumeSpec)),
});

/** A PersistentVolume of a manifest. */
export interface ManifestVolume extends Described<typeof manifestVolume> {}
export const manifestVolume = schemaOf<ManifestVolume>('PersistentVolume')({
  apiVersion: required(enumeration(['v1'])),
  kind: required(enumeration(['PersistentVolume'])),
  ...persistentVolume.fields,
  status: anything,
});
