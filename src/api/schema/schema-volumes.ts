import type {
  ClusterTrustBundleProjection,
  ConfigMapProjection,
  ConfigMapVolumeSource,
  DownwardAPIProjection,
  DownwardAPIVolumeFile,
  DownwardAPIVolumeSource,
  EmptyDirVolumeSource,
  HostPathVolumeSource,
  ImageVolumeSource,
  KeyToPath,
  PodCertificateProjection,
  ProjectedVolumeSource,
  SecretProjection,
  SecretVolumeSource,
  ServiceAccountTokenProjection,
  Volume,
  VolumeProjection,
  VolumeSource,
} from '../types/v1-volumes.js';
import {
  bool,
  enumeration,
  int32,
  int64,
  list,
  map,
  object,
  objectSchema,
  quantity,
  required,
  text,
} from './object-schema.js';
import {
  awsElasticBlockStoreVolumeSource,
  azureDiskVolumeSource,
  azureFileVolumeSource,
  cephFSVolumeSource,
  cinderVolumeSource,
  csiVolumeSource,
  ephemeralVolumeSource,
  fcVolumeSource,
  flexVolumeSource,
  flockerVolumeSource,
  gcePersistentDiskVolumeSource,
  gitRepoVolumeSource,
  glusterfsVolumeSource,
  iscsiVolumeSource,
  nfsVolumeSource,
  persistentVolumeClaimVolumeSource,
  photonPersistentDiskVolumeSource,
  portworxVolumeSource,
  quobyteVolumeSource,
  rbdVolumeSource,
  scaleIOVolumeSource,
  storageOSVolumeSource,
  vsphereVirtualDiskVolumeSource,
} from './schema-attached-volumes.js';
import {labelSelector, localObjectReference} from './schema-meta.js';
import {objectFieldSelector, resourceFieldSelector} from './schema-selectors.js';
import {PULL_POLICIES} from '../types/v1-meta.js';
import {HOST_PATH_TYPES} from '../types/v1-volumes.js';

// The fields of the types in v1-volumes.ts, in upstream's order.

export const hostPathVolumeSource = objectSchema<HostPathVolumeSource>('HostPathVolumeSource', {
  path: required(text),
  type: enumeration(HOST_PATH_TYPES),
});

export const emptyDirVolumeSource = objectSchema<EmptyDirVolumeSource>('EmptyDirVolumeSource', {
  medium: text,
  sizeLimit: quantity,
});

export const keyToPath = objectSchema<KeyToPath>('KeyToPath', {
  key: required(text),
  path: required(text),
  mode: int32,
});

export const secretVolumeSource = objectSchema<SecretVolumeSource>('SecretVolumeSource', {
  secretName: text,
  items: list(object(keyToPath)),
  defaultMode: int32,
  optional: bool,
});

export const configMapVolumeSource = objectSchema<ConfigMapVolumeSource>('ConfigMapVolumeSource', {
  ...localObjectReference.fields,
  items: list(object(keyToPath)),
  defaultMode: int32,
  optional: bool,
});

export const downwardAPIVolumeFile = objectSchema<DownwardAPIVolumeFile>('DownwardAPIVolumeFile', {
  path: required(text),
  fieldRef: object(objectFieldSelector),
  resourceFieldRef: object(resourceFieldSelector),
  mode: int32,
});

export const downwardAPIVolumeSource = objectSchema<DownwardAPIVolumeSource>('DownwardAPIVolumeSource', {
  items: list(object(downwardAPIVolumeFile)),
  defaultMode: int32,
});

export const imageVolumeSource = objectSchema<ImageVolumeSource>('ImageVolumeSource', {
  reference: text,
  pullPolicy: enumeration(PULL_POLICIES),
});

export const secretProjection = objectSchema<SecretProjection>('SecretProjection', {
  ...localObjectReference.fields,
  items: list(object(keyToPath)),
  optional: bool,
});

export const configMapProjection = objectSchema<ConfigMapProjection>('ConfigMapProjection', {
  ...localObjectReference.fields,
  items: list(object(keyToPath)),
  optional: bool,
});

export const downwardAPIProjection = objectSchema<DownwardAPIProjection>('DownwardAPIProjection', {
  items: list(object(downwardAPIVolumeFile)),
});

export const serviceAccountTokenProjection = objectSchema<ServiceAccountTokenProjection>(
  'ServiceAccountTokenProjection',
  {
    audience: text,
    expirationSeconds: int64,
    path: required(text),
  },
);

export const clusterTrustBundleProjection = objectSchema<ClusterTrustBundleProjection>(
  'ClusterTrustBundleProjection',
  {
    name: text,
    signerName: text,
    labelSelector: object(labelSelector),
    optional: bool,
    path: required(text),
  },
);

export const podCertificateProjection = objectSchema<PodCertificateProjection>('PodCertificateProjection', {
  signerName: text,
  keyType: text,
  maxExpirationSeconds: int32,
  credentialBundlePath: text,
  keyPath: text,
  certificateChainPath: text,
  userAnnotations: map(text),
});

export const volumeProjection = objectSchema<VolumeProjection>('VolumeProjection', {
  secret: object(secretProjection),
  downwardAPI: object(downwardAPIProjection),
  configMap: object(configMapProjection),
  serviceAccountToken: object(serviceAccountTokenProjection),
  clusterTrustBundle: object(clusterTrustBundleProjection),
  podCertificate: object(podCertificateProjection),
});

export const projectedVolumeSource = objectSchema<ProjectedVolumeSource>('ProjectedVolumeSource', {
  sources: required(list(object(volumeProjection))),
  defaultMode: int32,
});

export const volumeSource = objectSchema<VolumeSource>('VolumeSource', {
  hostPath: object(hostPathVolumeSource),
  emptyDir: object(emptyDirVolumeSource),
  gcePersistentDisk: object(gcePersistentDiskVolumeSource),
  awsElasticBlockStore: object(awsElasticBlockStoreVolumeSource),
  gitRepo: object(gitRepoVolumeSource),
  secret: object(secretVolumeSource),
  nfs: object(nfsVolumeSource),
  iscsi: object(iscsiVolumeSource),
  glusterfs: object(glusterfsVolumeSource),
  persistentVolumeClaim: object(persistentVolumeClaimVolumeSource),
  rbd: object(rbdVolumeSource),
  flexVolume: object(flexVolumeSource),
  cinder: object(cinderVolumeSource),
  cephfs: object(cephFSVolumeSource),
  flocker: object(flockerVolumeSource),
  downwardAPI: object(downwardAPIVolumeSource),
  fc: object(fcVolumeSource),
  azureFile: object(azureFileVolumeSource),
  configMap: object(configMapVolumeSource),
  vsphereVolume: object(vsphereVirtualDiskVolumeSource),
  quobyte: object(quobyteVolumeSource),
  azureDisk: object(azureDiskVolumeSource),
  photonPersistentDisk: object(photonPersistentDiskVolumeSource),
  projected: object(projectedVolumeSource),
  portworxVolume: object(portworxVolumeSource),
  scaleIO: object(scaleIOVolumeSource),
  storageos: object(storageOSVolumeSource),
  csi: object(csiVolumeSource),
  ephemeral: object(ephemeralVolumeSource),
  image: object(imageVolumeSource),
});

export const volume = objectSchema<Volume>('Volume', {
  name: required(text),
  ...volumeSource.fields,
});
