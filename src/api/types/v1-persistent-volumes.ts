import type {
  NFSVolumeSource,
  PersistentVolumeAccessMode,
  PersistentVolumeClaimSpec,
  PersistentVolumeMode,
} from './v1-attached-volumes.js';
import type {ObjectMeta, ObjectReference, ResourceList} from './v1-meta.js';
import type {NodeSelector} from './v1-scheduling.js';
import type {HostPathVolumeSource} from './v1-volumes.js';

/** Phase of a claim, as far as a kubelet distinguishes it: `Bound` or another. */
export interface PersistentVolumeClaimStatus {
  readonly phase?: string;
}

/** A user's claim to a PersistentVolume (core/v1 PersistentVolumeClaim). */
export interface PersistentVolumeClaim {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
  readonly spec: PersistentVolumeClaimSpec;
  readonly status?: PersistentVolumeClaimStatus;
}

/** A claim of a manifest. */
export interface ManifestClaim extends PersistentVolumeClaim {
  readonly apiVersion: 'v1';
  readonly kind: 'PersistentVolumeClaim';
}

/** A directory or block device of one node. */
export interface LocalVolumeSource {
  readonly path: string;
  readonly fsType?: string;
}

/** A volume of a CSI driver; kcri reports the driver. */
export interface CSIPersistentVolumeSource {
  readonly driver: string;
  readonly volumeHandle?: string;
  readonly readOnly?: boolean;
  readonly fsType?: string;
  readonly volumeAttributes?: Readonly<Record<string, string>>;
  readonly controllerPublishSecretRef?: unknown;
  readonly nodeStageSecretRef?: unknown;
  readonly nodePublishSecretRef?: unknown;
  readonly controllerExpandSecretRef?: unknown;
  readonly nodeExpandSecretRef?: unknown;
}

/** Nodes from which a PersistentVolume can be accessed. */
export interface VolumeNodeAffinity {
  readonly required?: NodeSelector;
}

/** Sources of PersistentVolumes that kcri cannot mount. */
export const UNSUPPORTED_VOLUME_SOURCES = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'rbd',
  'iscsi',
  'cinder',
  'cephfs',
  'fc',
  'flocker',
  'flexVolume',
  'azureFile',
  'vsphereVolume',
  'quobyte',
  'azureDisk',
  'photonPersistentDisk',
  'portworxVolume',
  'scaleIO',
  'storageos',
] as const;
type UnsupportedVolumeSource = (typeof UNSUPPORTED_VOLUME_SOURCES)[number];

/** Source and use of a PersistentVolume. */
export interface PersistentVolumeSpec extends Readonly<Partial<Record<UnsupportedVolumeSource, unknown>>> {
  readonly capacity?: ResourceList;
  readonly hostPath?: HostPathVolumeSource;
  readonly nfs?: NFSVolumeSource;
  readonly local?: LocalVolumeSource;
  readonly csi?: CSIPersistentVolumeSource;
  readonly accessModes?: readonly PersistentVolumeAccessMode[];
  readonly claimRef?: ObjectReference;
  readonly persistentVolumeReclaimPolicy?: string;
  readonly storageClassName?: string;
  readonly mountOptions?: readonly string[];
  readonly volumeMode?: PersistentVolumeMode;
  readonly nodeAffinity?: VolumeNodeAffinity;
  readonly volumeAttributesClassName?: string;
}

/** Storage that outlives pods (core/v1 PersistentVolume). */
export interface PersistentVolume {
  readonly metadata: ObjectMeta;
  readonly spec: PersistentVolumeSpec;
}

/** A PersistentVolume of a manifest. */
export interface ManifestVolume extends PersistentVolume {
  readonly apiVersion: 'v1';
  readonly kind: 'PersistentVolume';
  readonly status?: unknown;
}
