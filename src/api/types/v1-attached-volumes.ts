import {
  type Described,
  bool,
  enumeration,
  int32,
  list,
  map,
  object,
  quantity,
  required,
  schemaOf,
  text,
} from '../schema/object-schema.js';
import {
  labelSelector,
  localObjectReference,
  objectMeta,
  typedLocalObjectReference,
  typedObjectReference,
} from './v1-meta.js';

/** Host caching modes of an Azure disk. */
export const AZURE_DISK_CACHING_MODES = ['None', 'ReadOnly', 'ReadWrite'] as const;

/** Kinds of Azure disk. */
export const AZURE_DISK_KINDS = ['Dedicated', 'Managed', 'Shared'] as const;

/** Access modes of a persistent volume. */
export const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'] as const;
export type PersistentVolumeAccessMode = (typeof ACCESS_MODES)[number];

/** Modes of a claim: a filesystem or a raw device. */
export const VOLUME_MODES = ['Block', 'Filesystem'] as const;

/** A Google Compute Engine disk. */
export interface GCEPersistentDiskVolumeSource extends Described<typeof gcePersistentDiskVolumeSource> {}
export const gcePersistentDiskVolumeSource = schemaOf<GCEPersistentDiskVolumeSource>(
  'GCEPersistentDiskVolumeSource',
)({
  pdName: required(text),
  fsType: text,
  partition: int32,
  readOnly: bool,
});

/** An AWS EBS volume. */
export interface AWSElasticBlockStoreVolumeSource extends Described<
  typeof awsElasticBlockStoreVolumeSource
> {}
export const awsElasticBlockStoreVolumeSource = schemaOf<AWSElasticBlockStoreVolumeSource>(
  'AWSElasticBlockStoreVolumeSource',
)({
  volumeID: required(text),
  fsType: text,
  partition: int32,
  readOnly: bool,
});

/** A clone of a git repository (disabled in Kubernetes 1.36). */
export interface GitRepoVolumeSource extends Described<typeof gitRepoVolumeSource> {}
export const gitRepoVolumeSource = schemaOf<GitRepoVolumeSource>('GitRepoVolumeSource')({
  repository: required(text),
  revision: text,
  directory: text,
});

/** A directory of an NFS server. */
export interface NFSVolumeSource extends Described<typeof nfsVolumeSource> {}
export const nfsVolumeSource = schemaOf<NFSVolumeSource>('NFSVolumeSource')({
  server: required(text),
  path: required(text),
  readOnly: bool,
});

/** An iSCSI LUN. */
export interface ISCSIVolumeSource extends Described<typeof iscsiVolumeSource> {}
export const iscsiVolumeSource = schemaOf<ISCSIVolumeSource>('ISCSIVolumeSource')({
  targetPortal: required(text),
  iqn: required(text),
  lun: required(int32),
  iscsiInterface: text,
  fsType: text,
  readOnly: bool,
  portals: list(text),
  chapAuthDiscovery: bool,
  chapAuthSession: bool,
  secretRef: object(localObjectReference),
  initiatorName: text,
});

/** A Glusterfs volume. */
export interface GlusterfsVolumeSource extends Described<typeof glusterfsVolumeSource> {}
export const glusterfsVolumeSource = schemaOf<GlusterfsVolumeSource>('GlusterfsVolumeSource')({
  endpoints: required(text),
  path: required(text),
  readOnly: bool,
});

/** A PersistentVolumeClaim of the pod's namespace. */
export interface PersistentVolumeClaimVolumeSource extends Described<
  typeof persistentVolumeClaimVolumeSource
> {}
export const persistentVolumeClaimVolumeSource = schemaOf<PersistentVolumeClaimVolumeSource>(
  'PersistentVolumeClaimVolumeSource',
)({
  claimName: required(text),
  readOnly: bool,
});

/** A Ceph block device. */
export interface RBDVolumeSource extends Described<typeof rbdVolumeSource> {}
export const rbdVolumeSource = schemaOf<RBDVolumeSource>('RBDVolumeSource')({
  monitors: required(list(text)),
  image: required(text),
  fsType: text,
  pool: text,
  user: text,
  keyring: text,
  secretRef: object(localObjectReference),
  readOnly: bool,
});

/** A volume of an exec-style driver. */
export interface FlexVolumeSource extends Described<typeof flexVolumeSource> {}
export const flexVolumeSource = schemaOf<FlexVolumeSource>('FlexVolumeSource')({
  driver: required(text),
  fsType: text,
  secretRef: object(localObjectReference),
  readOnly: bool,
  options: map(text),
});

/** An OpenStack Cinder volume. */
export interface CinderVolumeSource extends Described<typeof cinderVolumeSource> {}
export const cinderVolumeSource = schemaOf<CinderVolumeSource>('CinderVolumeSource')({
  volumeID: required(text),
  fsType: text,
  readOnly: bool,
  secretRef: object(localObjectReference),
});

/** A Ceph filesystem. */
export interface CephFSVolumeSource extends Described<typeof cephFSVolumeSource> {}
export const cephFSVolumeSource = schemaOf<CephFSVolumeSource>('CephFSVolumeSource')({
  monitors: required(list(text)),
  path: text,
  user: text,
  secretFile: text,
  secretRef: object(localObjectReference),
  readOnly: bool,
});

/** A Flocker dataset. */
export interface FlockerVolumeSource extends Described<typeof flockerVolumeSource> {}
export const flockerVolumeSource = schemaOf<FlockerVolumeSource>('FlockerVolumeSource')({
  datasetName: text,
  datasetUUID: text,
});

/** A Fibre Channel LUN. */
export interface FCVolumeSource extends Described<typeof fcVolumeSource> {}
export const fcVolumeSource = schemaOf<FCVolumeSource>('FCVolumeSource')({
  targetWWNs: list(text),
  lun: int32,
  fsType: text,
  readOnly: bool,
  wwids: list(text),
});

/** An Azure file share. */
export interface AzureFileVolumeSource extends Described<typeof azureFileVolumeSource> {}
export const azureFileVolumeSource = schemaOf<AzureFileVolumeSource>('AzureFileVolumeSource')({
  secretName: required(text),
  shareName: required(text),
  readOnly: bool,
});

/** A vSphere virtual disk. */
export interface VsphereVirtualDiskVolumeSource extends Described<typeof vsphereVirtualDiskVolumeSource> {}
export const vsphereVirtualDiskVolumeSource = schemaOf<VsphereVirtualDiskVolumeSource>(
  'VsphereVirtualDiskVolumeSource',
)({
  volumePath: required(text),
  fsType: text,
  storagePolicyName: text,
  storagePolicyID: text,
});

/** A Quobyte volume. */
export interface QuobyteVolumeSource extends Described<typeof quobyteVolumeSource> {}
export const quobyteVolumeSource = schemaOf<QuobyteVolumeSource>('QuobyteVolumeSource')({
  registry: required(text),
  volume: required(text),
  readOnly: bool,
  user: text,
  group: text,
  tenant: text,
});

/** An Azure data disk. */
export interface AzureDiskVolumeSource extends Described<typeof azureDiskVolumeSource> {}
export const azureDiskVolumeSource = schemaOf<AzureDiskVolumeSource>('AzureDiskVolumeSource')({
  diskName: required(text),
  diskURI: required(text),
  cachingMode: enumeration(AZURE_DISK_CACHING_MODES),
  fsType: text,
  readOnly: bool,
  kind: enumeration(AZURE_DISK_KINDS),
});

/** A Photon Controller disk. */
export interface PhotonPersistentDiskVolumeSource extends Described<
  typeof photonPersistentDiskVolumeSource
> {}
export const photonPersistentDiskVolumeSource = schemaOf<PhotonPersistentDiskVolumeSource>(
  'PhotonPersistentDiskVolumeSource',
)({
  pdID: required(text),
  fsType: text,
});

/** A Portworx volume. */
export interface PortworxVolumeSource extends Described<typeof portworxVolumeSource> {}
export const portworxVolumeSource = schemaOf<PortworxVolumeSource>('PortworxVolumeSource')({
  volumeID: required(text),
  fsType: text,
  readOnly: bool,
});

/** A ScaleIO volume. */
export interface ScaleIOVolumeSource extends Described<typeof scaleIOVolumeSource> {}
export const scaleIOVolumeSource = schemaOf<ScaleIOVolumeSource>('ScaleIOVolumeSource')({
  gateway: required(text),
  system: required(text),
  secretRef: required(object(localObjectReference)),
  sslEnabled: bool,
  protectionDomain: text,
  storagePool: text,
  storageMode: text,
  volumeName: text,
  fsType: text,
  readOnly: bool,
});

/** A StorageOS volume. */
export interface StorageOSVolumeSource extends Described<typeof storageOSVolumeSource> {}
export const storageOSVolumeSource = schemaOf<StorageOSVolumeSource>('StorageOSVolumeSource')({
  volumeName: text,
  volumeNamespace: text,
  fsType: text,
  readOnly: bool,
  secretRef: object(localObjectReference),
});

/** An ephemeral volume of a CSI driver. */
export interface CSIVolumeSource extends Described<typeof csiVolumeSource> {}
export const csiVolumeSource = schemaOf<CSIVolumeSource>('CSIVolumeSource')({
  driver: required(text),
  readOnly: bool,
  fsType: text,
  volumeAttributes: map(text),
  nodePublishSecretRef: object(localObjectReference),
});

/** Amount of storage that a claim requests. */
export interface VolumeResourceRequirements extends Described<typeof volumeResourceRequirements> {}
export const volumeResourceRequirements = schemaOf<VolumeResourceRequirements>('VolumeResourceRequirements')({
  limits: map(quantity),
  requests: map(quantity),
});

/** Requirements of a claim. */
export interface PersistentVolumeClaimSpec extends Described<typeof persistentVolumeClaimSpec> {}
export const persistentVolumeClaimSpec = schemaOf<PersistentVolumeClaimSpec>('PersistentVolumeClaimSpec')({
  accessModes: list(enumeration(ACCESS_MODES)),
  selector: object(labelSelector),
  resources: object(volumeResourceRequirements),
  volumeName: text,
  storageClassName: text,
  volumeMode: enumeration(VOLUME_MODES),
  dataSource: object(typedLocalObjectReference),
  dataSourceRef: object(typedObjectReference),
  volumeAttributesClassName: text,
});

/** The claim that is created for an ephemeral volume. */
export interface PersistentVolumeClaimTemplate extends Described<typeof persistentVolumeClaimTemplate> {}
export const persistentVolumeClaimTemplate = schemaOf<PersistentVolumeClaimTemplate>(
  'PersistentVolumeClaimTemplate',
)({
  metadata: object(objectMeta),
  spec: required(object(persistentVolumeClaimSpec)),
});

/** A claim that lives as long as the pod. */
export interface EphemeralVolumeSource extends Described<typeof ephemeralVolumeSource> {}
export const ephemeralVolumeSource = schemaOf<EphemeralVolumeSource>('EphemeralVolumeSource')({
  volumeClaimTemplate: object(persistentVolumeClaimTemplate),
});
