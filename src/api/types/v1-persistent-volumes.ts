import type {
  NFSVolumeSource,
  PersistentVolumeAccessMode,
  PersistentVolumeClaimSpec,
  PersistentVolumeMode,
} from './v1-attached-volumes.js';
import type {ObjectMeta, ResourceList} from './v1-meta.js';
import type {ObjectReference} from './v1-objects.js';
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

/** A directory or block device of one node. */
export interface LocalVolumeSource {
  readonly path: string;
  readonly fsType?: string;
}

/** A volume of a CSI driver, as far as kcri reports it. */
export interface CSIPersistentVolumeSource {
  readonly driver: string;
}

/** Nodes from which a PersistentVolume can be accessed. */
export interface VolumeNodeAffinity {
  readonly required?: NodeSelector;
}

/** Source and use of a PersistentVolume; sources that kcri does not know are omitted. */
export interface PersistentVolumeSpec {
  readonly capacity?: ResourceList;
  readonly hostPath?: HostPathVolumeSource;
  readonly nfs?: NFSVolumeSource;
  readonly local?: LocalVolumeSource;
  readonly csi?: CSIPersistentVolumeSource;
  readonly accessModes?: readonly PersistentVolumeAccessMode[];
  readonly claimRef?: ObjectReference;
  readonly mountOptions?: readonly string[];
  readonly volumeMode?: PersistentVolumeMode;
  readonly nodeAffinity?: VolumeNodeAffinity;
}

/** Storage that outlives pods (core/v1 PersistentVolume). */
export interface PersistentVolume {
  readonly metadata: ObjectMeta;
  readonly spec: PersistentVolumeSpec;
}
