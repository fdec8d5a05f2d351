import type {Pod} from '../../api/types/v1-pod.js';
import type {PodUid} from '../../cri/index.js';

/** Source of desired pods (kubetypes): the annotation kubernetes.io/config.source. */
export type PodSourceName = 'file' | 'http' | 'api';

/** Change of desired pods of one source (kubetypes.PodUpdate). */
export interface PodUpdate {
  readonly op: PodOperation;
  readonly source: PodSourceName;
  /** Copies or immutable pods, never shared with the source. Empty for an ADD that only marks the source as ready. */
  readonly pods: readonly DesiredPod[];
}

/**
 * Operation on desired pods. DELETE is a graceful deletion (deletionTimestamp); REMOVE means that the source no longer
 * has the pod.
 */
export type PodOperation = 'ADD' | 'UPDATE' | 'REMOVE' | 'DELETE' | 'RECONCILE';

/** A desired pod, as its source defines it. */
export interface DesiredPod {
  readonly uid: PodUid;
  readonly pod: Pod;
  /** File or URL of the pod, for messages. */
  readonly origin: string;
}
