import {
  type Described,
  bool,
  enumeration,
  int32,
  int64,
  list,
  map,
  object,
  quantity,
  required,
  schemaOf,
  text,
} from '../schema/object-schema.js';
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
} from './v1-attached-volumes.js';
import {PULL_POLICIES, labelSelector, localObjectReference} from './v1-meta.js';
import {objectFieldSelector, resourceFieldSelector} from './v1-selectors.js';

/** Required type of a hostPath; empty means no check. */
export const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
] as const;
export type HostPathType = (typeof HOST_PATH_TYPES)[number];

/** A file or directory of the node. */
export interface HostPathVolumeSource extends Described<typeof hostPathVolumeSource> {}
export const hostPathVolumeSource = schemaOf<HostPathVolumeSource>('HostPathVolumeSource')({
  path: required(text),
  type: enumeration(HOST_PATH_TYPES),
});

/** A directory that starts empty and lives as long as the pod. */
export interface EmptyDirVolumeSource extends Described<typeof emptyDirVolumeSource> {}
export const emptyDirVolumeSource = schemaOf<EmptyDirVolumeSource>('EmptyDirVolumeSource')({
  medium: text,
  sizeLimit: quantity,
});

/** Mapping of a key to a file, relative to the volume's root. */
export interface KeyToPath extends Described<typeof keyToPath> {}
export const keyToPath = schemaOf<KeyToPath>('KeyToPath')({
  key: required(text),
  path: required(text),
  mode: int32,
});

/** A Secret's keys as files. */
export interface SecretVolumeSource extends Described<typeof secretVolumeSource> {}
export const secretVolumeSource = schemaOf<SecretVolumeSource>('SecretVolumeSource')({
  secretName: text,
  items: list(object(keyToPath)),
  defaultMode: int32,
  optional: bool,
});

/** A ConfigMap's keys as files. */
export interface ConfigMapVolumeSource extends Described<typeof configMapVolumeSource> {}
export const configMapVolumeSource = schemaOf<ConfigMapVolumeSource>('ConfigMapVolumeSource')({
  ...localObjectReference.fields,
  items: list(object(keyToPath)),
  defaultMode: int32,
  optional: bool,
});

/** One file with a field of the pod or a container's resource. */
export interface DownwardAPIVolumeFile extends Described<typeof downwardAPIVolumeFile> {}
export const downwardAPIVolumeFile = schemaOf<DownwardAPIVolumeFile>('DownwardAPIVolumeFile')({
  path: required(text),
  fieldRef: object(objectFieldSelector),
  resourceFieldRef: object(resourceFieldSelector),
  mode: int32,
});

/** Facts about the pod as files. */
export interface DownwardAPIVolumeSource extends Described<typeof downwardAPIVolumeSource> {}
export const downwardAPIVolumeSource = schemaOf<DownwardAPIVolumeSource>('DownwardAPIVolumeSource')({
  items: list(object(downwardAPIVolumeFile)),
  defaultMode: int32,
});

/** The contents of an OCI image, read-only. */
export interface ImageVolumeSource extends Described<typeof imageVolumeSource> {}
export const imageVolumeSource = schemaOf<ImageVolumeSource>('ImageVolumeSource')({
  reference: text,
  pullPolicy: enumeration(PULL_POLICIES),
});

/** A Secret inside a projected volume. */
export interface SecretProjection extends Described<typeof secretProjection> {}
export const secretProjection = schemaOf<SecretProjection>('SecretProjection')({
  ...localObjectReference.fields,
  items: list(object(keyToPath)),
  optional: bool,
});

/** A ConfigMap inside a projected volume. */
export interface ConfigMapProjection extends Described<typeof configMapProjection> {}
export const configMapProjection = schemaOf<ConfigMapProjection>('ConfigMapProjection')({
  ...localObjectReference.fields,
  items: list(object(keyToPath)),
  optional: bool,
});

/** Facts about the pod inside a projected volume. */
export interface DownwardAPIProjection extends Described<typeof downwardAPIProjection> {}
export const downwardAPIProjection = schemaOf<DownwardAPIProjection>('DownwardAPIProjection')({
  items: list(object(downwardAPIVolumeFile)),
});

/** A token of the pod's service account inside a projected volume. */
export interface ServiceAccountTokenProjection extends Described<typeof serviceAccountTokenProjection> {}
export const serviceAccountTokenProjection = schemaOf<ServiceAccountTokenProjection>(
  'ServiceAccountTokenProjection',
)({
  audience: text,
  expirationSeconds: int64,
  path: required(text),
});

/** Trust anchors inside a projected volume. */
export interface ClusterTrustBundleProjection extends Described<typeof clusterTrustBundleProjection> {}
export const clusterTrustBundleProjection = schemaOf<ClusterTrustBundleProjection>(
  'ClusterTrustBundleProjection',
)({
  name: text,
  signerName: text,
  labelSelector: object(labelSelector),
  optional: bool,
  path: required(text),
});

/** A private key and its certificate inside a projected volume. */
export interface PodCertificateProjection extends Described<typeof podCertificateProjection> {}
export const podCertificateProjection = schemaOf<PodCertificateProjection>('PodCertificateProjection')({
  signerName: text,
  keyType: text,
  maxExpirationSeconds: int32,
  credentialBundlePath: text,
  keyPath: text,
  certificateChainPath: text,
  userAnnotations: map(text),
});

/** One source of a projected volume; exactly one field is set. */
export interface VolumeProjection extends Described<typeof volumeProjection> {}
export const volumeProjection = schemaOf<VolumeProjection>('VolumeProjection')({
  secret: object(secretProjection),
  downwardAPI: object(downwardAPIProjection),
  configMap: object(configMapProjection),
  serviceAccountToken: object(serviceAccountTokenProjection),
  clusterTrustBundle: object(clusterTrustBundleProjection),
  podCertificate: object(podCertificateProjection),
});

/** Several sources in one directory. */
export interface ProjectedVolumeSource extends Described<typeof projectedVolumeSource> {}
export const projectedVolumeSource = schemaOf<ProjectedVolumeSource>('ProjectedVolumeSource')({
  sources: required(list(object(volumeProjection))),
  defaultMode: int32,
});

/** Source of a volume; exactly one field is set. */
export interface VolumeSource extends Described<typeof volumeSource> {}
export const volumeSource = schemaOf<VolumeSource>('VolumeSource')({
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

/** A named volume that the pod's containers can mount. */
export interface Volume extends Described<typeof volume> {}
export const volume = schemaOf<Volume>('Volume')({
  name: required(text),
  ...volumeSource.fields,
});
