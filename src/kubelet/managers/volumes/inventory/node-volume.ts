import type {Pod} from '../../../../api/types/v1-pod.js';
import type {VolumeHistory} from '../../../contract/volumes/volume-history.js';
import type {MountFact} from './volume-facts.js';

/**
 * State of a volume of the node. `published`: a CSI driver has mounted it for its pod. `staged`: it is prepared for pods, but not
 * mounted for this one, or for none. `pending`: its pod waits for it. `orphaned`: its pod does not exist. `unused`: no pod or
 * container uses it. `released`: the policy Retain has kept it after its claim.
 */
export type VolumeState =
  | 'mounted'
  | 'published'
  | 'staged'
  | 'pending'
  | 'error'
  | 'orphaned'
  | 'unused'
  | 'released';

/** A volume of the node. */
export interface NodeVolume {
  /** Pod that has it; without a name if only its directory is known. Undefined without a pod. */
  readonly pod: {readonly uid: string; readonly namespace?: string; readonly name?: string} | undefined;
  /** Name in the pod; that of the PersistentVolume or of the directory if it is not known. */
  readonly name: string;
  /** Kind as in the Pod API, such as `configMap`; `claim` for a directory of kcri. */
  readonly kind: string;
  readonly driver?: string | undefined;
  /** ID of the volume for its driver. */
  readonly handle?: string | undefined;
  readonly persistentVolume?: string | undefined;
  /** Claim as `namespace/name`. */
  readonly claim?: string | undefined;
  readonly state: VolumeState;
  /** Cause of an error. */
  readonly message?: string | undefined;
  /** Path of the directory or device for containers; undefined if it has none or is not known. */
  readonly path?: string | undefined;
  /** Path at which it is staged, or mounted for all pods. */
  readonly stagingPath?: string | undefined;
  readonly isBlock: boolean;
  /** What is mounted at the path. */
  readonly mount?: MountFact | undefined;
}

/** A pod of the node. */
export interface VolumePod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** Pod with its status; undefined if its volumes are not known. */
  readonly pod: Pod | undefined;
  /** Events of the pod. */
  readonly events: readonly VolumeEvent[];
  readonly histories: readonly VolumeHistory[];
}

/** Parts of an event that tell about volumes. */
export interface VolumeEvent {
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly lastTimestamp: string;
}
