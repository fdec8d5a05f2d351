import type {Quantity} from '../../../api/types/v1-meta.js';
import type {PersistentVolume} from '../../../api/types/v1-persistent-volumes.js';

/** The PersistentVolume behind a volume of a pod (volume.Spec). */
export interface ClaimedVolume {
  readonly volume: PersistentVolume;
  /** Size of the volume in the status of the claim; undefined if it is not known. */
  readonly claimSize?: Quantity | undefined;
  /** True if the pod's volume asks for read-only access. */
  readonly readOnly: boolean;
  /** False if the node affinity of the PersistentVolume excludes this node. */
  readonly isOnNode: boolean;
}
