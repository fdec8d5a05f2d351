import type {PersistentVolume} from '../../../api/types/v1-persistent-volumes.js';

/** The PersistentVolume behind a volume of a pod (volume.Spec). */
export interface ClaimedVolume {
  readonly volume: PersistentVolume;
  /** True if the pod's volume asks for read-only access. */
  readonly readOnly: boolean;
  /** False if the node affinity of the PersistentVolume excludes this node. */
  readonly isOnNode: boolean;
}
