import {canonicalJson, computeUuid} from '../../../api/container-hash.js';
import type {PodStatus} from '../../../api/types/v1-status.js';
import type {Job} from '../../../api/types/v1-workloads.js';
import type {JobPodPlace} from '../../../api/workloads/job-pods.js';
import {podUid, type PodUid} from '../../../cri/index.js';

/** Pod of a Job. */
export interface JobPod {
  readonly place: JobPodPlace;
  readonly uid: PodUid;
}

/** Pod of a Job that has terminated. */
export interface EndedJobPod extends JobPod {
  /** Time at which the end was observed, in ms since the epoch. */
  readonly endedAtMs: number;
  readonly status: PodStatus;
}

/** Result of a Job. */
export interface JobResult {
  readonly kind: 'complete' | 'failed';
  readonly atMs: number;
  readonly reason?: string;
  readonly message?: string;
}

/** Progress of a Job that survives restarts of the daemon. */
export interface JobState {
  readonly namespace: string;
  readonly name: string;
  /** Hash of what determines the run: a Job with another key runs again. */
  readonly key: string;
  /** Time of the first decision, in ms since the epoch. */
  readonly createdAtMs: number;
  /** Time from which activeDeadlineSeconds counts, in ms since the epoch; undefined while the Job is suspended. */
  readonly startedAtMs?: number | undefined;
  /** Number of pods created so far. */
  readonly created: number;
  readonly active: readonly JobPod[];
  /** Pods that have terminated, in that order. */
  readonly ended: readonly EndedJobPod[];
  readonly result?: JobResult;
}

/** Returns the hash of a Job without the fields that may change while it runs. */
export function computeJobKey({metadata, spec}: Job): string {
  const fixed = {...spec, parallelism: undefined, suspend: undefined, ttlSecondsAfterFinished: undefined};
  return computeUuid(canonicalJson({uid: metadata.uid, spec: fixed}));
}

/** Returns the state of a Job without pods. */
export function createJobState(job: Job, nowMs: number): JobState {
  const {namespace = 'default', name = ''} = job.metadata;
  const key = computeJobKey(job);
  return {namespace, name, key, createdAtMs: nowMs, created: 0, active: [], ended: []};
}

/** Returns the state with further pods. Their UIDs differ from those of every other run and pod of the Job. */
export function startPods(state: JobState, places: readonly JobPodPlace[]): JobState {
  const {namespace, name, createdAtMs, created} = state;
  const pods = places.map((place, index) => ({
    place,
    uid: podUid(computeUuid(`Job/${namespace}/${name}/${createdAtMs}/${created + index}`)),
  }));
  return {...state, created: created + places.length, active: [...state.active, ...pods]};
}
