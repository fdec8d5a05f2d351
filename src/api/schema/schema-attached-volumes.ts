import type {
  AWSElasticBlockStoreVolumeSource,
  AzureDiskVolumeSource,
  AzureFileVolumeSource,
  CSIVolumeSource,
  CephFSVolumeSource,
  CinderVolumeSource,
  EphemeralVolumeSource,
  FCVolumeSource,
  FlexVolumeSource,
  FlockerVolumeSource,
  GCEPersistentDiskVolumeSource,
  GitRepoVolumeSource,
  GlusterfsVolumeSource,
  ISCSIVolumeSource,
  NFSVolumeSource,
  PersistentVolumeClaimSpec,
  PersistentVolumeClaimTemplate,
  PersistentVolumeClaimVolumeSource,
  PhotonPersistentDiskVolumeSource,
  PortworxVolumeSource,
  QuobyteVolumeSource,
  RBDVolumeSource,
  ScaleIOVolumeSource,
  StorageOSVolumeSource,
  VolumeResourceRequirements,
  VsphereVirtualDiskVolumeSource,
} from '../types/v1-attached-volumes.js';
import {
  bool,
  enumeration,
  int32,
  list,
  map,
  object,
  objectSchema,
  quantity,
  required,
  text,
} from './object-schema.js';
import {
  labelSelector,
  localObjectReference,
  objectMeta,
  typedLocalObjectReference,
  typedObjectReference,
} from './schema-meta.js';
import {
  ACCESS_MODES,
  AZURE_DISK_CACHING_MODES,
  AZURE_DISK_KINDS,
  VOLUME_MODES,
} from '../types/v1-attached-volumes.js';

// The fields of the types in v1-attached-volumes.ts, in upstream's order.

export const gcePersistentDiskVolumeSource = objectSchema<GCEPersistentDiskVolumeSource>(
  'GCEPersistentDiskVolumeSource',
  {
    pdName: required(text),
    fsType: text,
    partition: int32,
    readOnly: bool,
  },
);

export const awsElasticBlockStoreVolumeSource = objectSchema<AWSElasticBlockStoreVolumeSource>(
  'AWSElasticBlockStoreVolumeSource',
  {
    volumeID: required(text),
    fsType: text,
    partition: int32,
    readOnly: bool,
  },
);

export const gitRepoVolumeSource = objectSchema<GitRepoVolumeSource>('GitRepoVolumeSource', {
  repository: required(text),
  revision: text,
  directory: text,
});

export const nfsVolumeSource = objectSchema<NFSVolumeSource>('NFSVolumeSource', {
  server: required(text),
  path: required(text),
  readOnly: bool,
});

export const iscsiVolumeSource = objectSchema<ISCSIVolumeSource>('ISCSIVolumeSource', {
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

export const glusterfsVolumeSource = objectSchema<GlusterfsVolumeSource>('GlusterfsVolumeSource', {
  endpoints: required(text),
  path: required(text),
  readOnly: bool,
});

export const persistentVolumeClaimVolumeSource = objectSchema<PersistentVolumeClaimVolumeSource>(
  'PersistentVolumeClaimVolumeSource',
  {
    claimName: required(text),
    readOnly: bool,
  },
);

export const rbdVolumeSource = objectSchema<RBDVolumeSource>('RBDVolumeSource', {
  monitors: required(list(text)),
  image: required(text),
  fsType: text,
  pool: text,
  user: text,
  keyring: text,
  secretRef: object(localObjectReference),
  readOnly: bool,
});

export const flexVolumeSource = objectSchema<FlexVolumeSource>('FlexVolumeSource', {
  driver: required(text),
  fsType: text,
  secretRef: object(localObjectReference),
  readOnly: bool,
  options: map(text),
});

export const cinderVolumeSource = objectSchema<CinderVolumeSource>('CinderVolumeSource', {
  volumeID: required(text),
  fsType: text,
  readOnly: bool,
  secretRef: object(localObjectReference),
});

export const cephFSVolumeSource = objectSchema<CephFSVolumeSource>('CephFSVolumeSource', {
  monitors: required(list(text)),
  path: text,
  user: text,
  secretFile: text,
  secretRef: object(localObjectReference),
  readOnly: bool,
});

export const flockerVolumeSource = objectSchema<FlockerVolumeSource>('FlockerVolumeSource', {
  datasetName: text,
  datasetUUID: text,
});

export const fcVolumeSource = objectSchema<FCVolumeSource>('FCVolumeSource', {
  targetWWNs: list(text),
  lun: int32,
  fsType: text,
  readOnly: bool,
  wwids: list(text),
});

export const azureFileVolumeSource = objectSchema<AzureFileVolumeSource>('AzureFileVolumeSource', {
  secretName: required(text),
  shareName: required(text),
  readOnly: bool,
});

export const vsphereVirtualDiskVolumeSource = objectSchema<VsphereVirtualDiskVolumeSource>(
  'VsphereVirtualDiskVolumeSource',
  {
    volumePath: required(text),
    fsType: text,
    storagePolicyName: text,
    storagePolicyID: text,
  },
);

export const quobyteVolumeSource = objectSchema<QuobyteVolumeSource>('QuobyteVolumeSource', {
  registry: required(text),
  volume: required(text),
  readOnly: bool,
  user: text,
  group: text,
  tenant: text,
});

export const azureDiskVolumeSource = objectSchema<AzureDiskVolumeSource>('AzureDiskVolumeSource', {
  diskName: required(text),
  diskURI: required(text),
  cachingMode: enumeration(AZURE_DISK_CACHING_MODES),
  fsType: text,
  readOnly: bool,
  kind: enumeration(AZURE_DISK_KINDS),
});

export const photonPersistentDiskVolumeSource = objectSchema<PhotonPersistentDiskVolumeSource>(
  'PhotonPersistentDiskVolumeSource',
  {
    pdID: required(text),
    fsType: text,
  },
);

export const portworxVolumeSource = objectSchema<PortworxVolumeSource>('PortworxVolumeSource', {
  volumeID: required(text),
  fsType: text,
  readOnly: bool,
});

export const scaleIOVolumeSource = objectSchema<ScaleIOVolumeSource>('ScaleIOVolumeSource', {
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

export const storageOSVolumeSource = objectSchema<StorageOSVolumeSource>('StorageOSVolumeSource', {
  volumeName: text,
  volumeNamespace: text,
  fsType: text,
  readOnly: bool,
  secretRef: object(localObjectReference),
});

export const csiVolumeSource = objectSchema<CSIVolumeSource>('CSIVolumeSource', {
  driver: required(text),
  readOnly: bool,
  fsType: text,
  volumeAttributes: map(text),
  nodePublishSecretRef: object(localObjectReference),
});

export const volumeResourceRequirements = objectSchema<VolumeResourceRequirements>(
  'VolumeResourceRequirements',
  {
    limits: map(quantity),
    requests: map(quantity),
  },
);

export const persistentVolumeClaimSpec = objectSchema<PersistentVolumeClaimSpec>(
  'PersistentVolumeClaimSpec',
  {
    accessModes: list(enumeration(ACCESS_MODES)),
    selector: object(labelSelector),
    resources: object(volumeResourceRequirements),
    volumeName: text,
    storageClassName: text,
    volumeMode: enumeration(VOLUME_MODES),
    dataSource: object(typedLocalObjectReference),
    dataSourceRef: object(typedObjectReference),
    volumeAttributesClassName: text,
  },
);

export const persistentVolumeClaimTemplate = objectSchema<PersistentVolumeClaimTemplate>(
  'PersistentVolumeClaimTemplate',
  {
    metadata: object(objectMeta),
    spec: required(object(persistentVolumeClaimSpec)),
  },
);

export const ephemeralVolumeSource = objectSchema<EphemeralVolumeSource>('EphemeralVolumeSource', {
  volumeClaimTemplate: object(persistentVolumeClaimTemplate),
});
