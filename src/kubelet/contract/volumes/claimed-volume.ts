import type {PersistentVolumeClaimSpec} from '../../../api/types/v1-attached-volumes.js';
import type {StorageClass, VolumeAttributesClass} from '../../../api/types/v1-storage.js';
import type {Quantity} from '../../../api/types/v1-meta.js';
import type {PersistentVolume} from '../../../api/types/v1-persistent-volumes.js';

/** The PersistentVolume behind a volume of a pod (volume.Spec). */
export interface ClaimedVolume {
  readonly volume: PersistentVolume;
  /** True if the volume was translated for the CSI driver that replaced its kind; false by default. */
  readonly isMigrated?: boolean;
  /** Size of the volume in the status of the claim; undefined if it is not known. */
  readonly claimSize?: Quantity | undefined;
  /** True while the driver's controller enlarges the volume, or changes its attributes: it has others soon. */
  readonly isGrowing?: boolean;
  /** True if the pod's volume asks for read-only access. */
  readonly readOnly: boolean;
  /** False if the node affinity of the PersistentVolume excludes this node. */
  readonly isOnNode: boolean;
}

/** A claim for which a CSI driver of this node has to create a volume. */
export interface ClaimToProvision {
  readonly namespace: string;
  readonly name: string;
  readonly spec: PersistentVolumeClaimSpec;
  /** Undefined for a generic ephemeral volume whose class is not in the manifests: it cannot be provisioned. */
  readonly storageClass: StorageClass | undefined;
  /** Class of its attributes; undefined if it names none, or one that is not in the manifests. */
  readonly attributesClass?: VolumeAttributesClass | undefined;
  /** True if the pod's volume asks for read-only access. */
  readonly readOnly: boolean;
  /** UID of the pod that the claim belongs to, with which it ends; undefined for a claim of the manifests. */
  readonly ownerUid?: string;
}
