import type {
  LabelSelector,
  LocalObjectReference,
  ObjectMeta,
  ResourceList,
  TypedLocalObjectReference,
  TypedObjectReference,
} from './v1-meta.js';

/** Host caching modes of an Azure disk. */
export const AZURE_DISK_CACHING_MODES = ['None', 'ReadOnly', 'ReadWrite'] as const;
export type AzureDataDiskCachingMode = (typeof AZURE_DISK_CACHING_MODES)[number];

/** Kinds of Azure disk. */
export const AZURE_DISK_KINDS = ['Dedicated', 'Managed', 'Shared'] as const;
export type AzureDataDiskKind = (typeof AZURE_DISK_KINDS)[number];

/** Access modes of a persistent volume. */
export const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'] as const;
export type PersistentVolumeAccessMode = (typeof ACCESS_MODES)[number];

/** Modes of a claim: a filesystem or a raw device. */
export const VOLUME_MODES = ['Block', 'Filesystem'] as const;
export type PersistentVolumeMode = (typeof VOLUME_MODES)[number];

/** A Google Compute Engine disk. */
export interface GCEPersistentDiskVolumeSource {
  readonly pdName: string;
  readonly fsType?: string;
  readonly partition?: number;
  readonly readOnly?: boolean;
}

/** An AWS EBS volume. */
export interface AWSElasticBlockStoreVolumeSource {
  readonly volumeID: string;
  readonly fsType?: string;
  readonly partition?: number;
  readonly readOnly?: boolean;
}

/** A clone of a git repository (disabled in Kubernetes 1.36). */
export interface GitRepoVolumeSource {
  readonly repository: string;
  readonly revision?: string;
  readonly directory?: string;
}

/** A directory of an NFS server. */
export interface NFSVolumeSource {
  readonly server: string;
  readonly path: string;
  readonly readOnly?: boolean;
}

/** An iSCSI LUN. */
export interface ISCSIVolumeSource {
  readonly targetPortal: string;
  readonly iqn: string;
  readonly lun: number;
  readonly iscsiInterface?: string;
  readonly fsType?: string;
  readonly readOnly?: boolean;
  readonly portals?: readonly string[];
  readonly chapAuthDiscovery?: boolean;
  readonly chapAuthSession?: boolean;
  readonly secretRef?: LocalObjectReference;
  readonly initiatorName?: string;
}

/** A Glusterfs volume. */
export interface GlusterfsVolumeSource {
  readonly endpoints: string;
  readonly path: string;
  readonly readOnly?: boolean;
}

/** A PersistentVolumeClaim of the pod's namespace. */
export interface PersistentVolumeClaimVolumeSource {
  readonly claimName: string;
  readonly readOnly?: boolean;
}

/** A Ceph block device. */
export interface RBDVolumeSource {
  readonly monitors: readonly string[];
  readonly image: string;
  readonly fsType?: string;
  readonly pool?: string;
  readonly user?: string;
  readonly keyring?: string;
  readonly secretRef?: LocalObjectReference;
  readonly readOnly?: boolean;
}

/** A volume of an exec-style driver. */
export interface FlexVolumeSource {
  readonly driver: string;
  readonly fsType?: string;
  readonly secretRef?: LocalObjectReference;
  readonly readOnly?: boolean;
  readonly options?: Readonly<Record<string, string>>;
}

/** An OpenStack Cinder volume. */
export interface CinderVolumeSource {
  readonly volumeID: string;
  readonly fsType?: string;
  readonly readOnly?: boolean;
  readonly secretRef?: LocalObjectReference;
}

/** A Ceph filesystem. */
export interface CephFSVolumeSource {
  readonly monitors: readonly string[];
  readonly path?: string;
  readonly user?: string;
  readonly secretFile?: string;
  readonly secretRef?: LocalObjectReference;
  readonly readOnly?: boolean;
}

/** A Flocker dataset. */
export interface FlockerVolumeSource {
  readonly datasetName?: string;
  readonly datasetUUID?: string;
}

/** A Fibre Channel LUN. */
export interface FCVolumeSource {
  readonly targetWWNs?: readonly string[];
  readonly lun?: number;
  readonly fsType?: string;
  readonly readOnly?: boolean;
  readonly wwids?: readonly string[];
}

/** An Azure file share. */
export interface AzureFileVolumeSource {
  readonly secretName: string;
  readonly shareName: string;
  readonly readOnly?: boolean;
}

/** A vSphere virtual disk. */
export interface VsphereVirtualDiskVolumeSource {
  readonly volumePath: string;
  readonly fsType?: string;
  readonly storagePolicyName?: string;
  readonly storagePolicyID?: string;
}

/** A Quobyte volume. */
export interface QuobyteVolumeSource {
  readonly registry: string;
  readonly volume: string;
  readonly readOnly?: boolean;
  readonly user?: string;
  readonly group?: string;
  readonly tenant?: string;
}

/** An Azure data disk. */
export interface AzureDiskVolumeSource {
  readonly diskName: string;
  readonly diskURI: string;
  readonly cachingMode?: AzureDataDiskCachingMode;
  readonly fsType?: string;
  readonly readOnly?: boolean;
  readonly kind?: AzureDataDiskKind;
}

/** A Photon Controller disk. */
export interface PhotonPersistentDiskVolumeSource {
  readonly pdID: string;
  readonly fsType?: string;
}

/** A Portworx volume. */
export interface PortworxVolumeSource {
  readonly volumeID: string;
  readonly fsType?: string;
  readonly readOnly?: boolean;
}

/** A ScaleIO volume. */
export interface ScaleIOVolumeSource {
  readonly gateway: string;
  readonly system: string;
  readonly secretRef: LocalObjectReference;
  readonly sslEnabled?: boolean;
  readonly protectionDomain?: string;
  readonly storagePool?: string;
  readonly storageMode?: string;
  readonly volumeName?: string;
  readonly fsType?: string;
  readonly readOnly?: boolean;
}

/** A StorageOS volume. */
export interface StorageOSVolumeSource {
  readonly volumeName?: string;
  readonly volumeNamespace?: string;
  readonly fsType?: string;
  readonly readOnly?: boolean;
  readonly secretRef?: LocalObjectReference;
}

/** An ephemeral volume of a CSI driver. */
export interface CSIVolumeSource {
  readonly driver: string;
  readonly readOnly?: boolean;
  readonly fsType?: string;
  readonly volumeAttributes?: Readonly<Record<string, string>>;
  readonly nodePublishSecretRef?: LocalObjectReference;
}

/** Amount of storage that a claim requests. */
export interface VolumeResourceRequirements {
  readonly limits?: ResourceList;
  readonly requests?: ResourceList;
}

/** Requirements of a claim. */
export interface PersistentVolumeClaimSpec {
  readonly accessModes?: readonly PersistentVolumeAccessMode[];
  readonly selector?: LabelSelector;
  readonly resources?: VolumeResourceRequirements;
  readonly volumeName?: string;
  readonly storageClassName?: string;
  readonly volumeMode?: PersistentVolumeMode;
  readonly dataSource?: TypedLocalObjectReference;
  readonly dataSourceRef?: TypedObjectReference;
  readonly volumeAttributesClassName?: string;
}

/** The claim that is created for an ephemeral volume. */
export interface PersistentVolumeClaimTemplate {
  readonly metadata?: ObjectMeta;
  readonly spec: PersistentVolumeClaimSpec;
}

/** A claim that lives as long as the pod. */
export interface EphemeralVolumeSource {
  readonly volumeClaimTemplate?: PersistentVolumeClaimTemplate;
}
