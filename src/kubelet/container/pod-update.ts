import type {Pod} from '../../api/v1.js';
import type {PodUid} from '../../cri/index.js';

/** Where desired pods come from (kubetypes): the annotation kubernetes.io/config.source. */
export type PodSourceName = 'file' | 'http' | 'api';

/** What has become of some desired pods of one source (kubetypes.PodUpdate). */
export interface PodUpdate {
  readonly op: PodOperation;
  readonly source: PodSourceName;
  /** Never shared with the source: each is a copy or immutable. Empty for an ADD that only makes the source ready. */
  readonly pods: readonly DesiredPod[];
}

/** DELETE is a graceful deletion (deletionTimestamp), REMOVE means that the source has the pod no more. */
export type PodOperation = 'ADD' | 'UPDATE' | 'REMOVE' | 'DELETE' | 'RECONCILE';

/** A pod as a source wants it. */
export interface DesiredPod {
  readonly uid: PodUid;
  readonly pod: Pod;
  /** The file or URL that it comes from, for messages. */
  readonly origin: string;
}
