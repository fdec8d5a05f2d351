import type {Pod} from '../../api/types/v1-pod.js';
import type {PodStatus} from '../../api/types/v1-status.js';
import type {Job, Workload} from '../../api/types/v1-workloads.js';
import type {JobPodPlace} from '../../api/workloads/job-pods.js';
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

/** A workload of a manifest, whose pods the daemon maintains. */
export type DesiredWorkload = DesiredPodSet | DesiredJob;

/** A workload that keeps its pods running. */
export interface DesiredPodSet {
  readonly kind: 'pods';
  readonly workload: Workload;
  /** Pods of the current template, in the order in which they start. */
  readonly pods: readonly DesiredPod[];
}

/** A Job, or the run of a CronJob. */
export interface DesiredJob {
  readonly kind: 'job';
  readonly workload: Workload;
  readonly job: Job;
  /** Returns the pod of a place in the Job, with this UID. */
  readonly createPod: (place: JobPodPlace, uid: PodUid) => DesiredPod;
}

/** The pods of the daemon, as its sources need them to maintain workloads. */
export interface PodStates {
  /** Returns the last status of a pod; undefined before its first sync. */
  status(uid: PodUid): PodStatus | undefined;
  /** Reports whether anything of a pod exists: a worker, a record or a rejection. */
  isPresent(uid: PodUid): boolean;
  /** Returns the pods of a source that exist on the node, also those of an earlier daemon. */
  listRecorded(source: PodSourceName): readonly DesiredPod[];
}
