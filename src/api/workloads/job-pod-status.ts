import type {PodStatus} from '../types/v1-status.js';
import type {Job} from '../types/v1-workloads.js';
import type {JobPodPlace} from './job-pods.js';
import type {FinishedJobPod, JobDecision} from './job-progress.js';

/** Failure of a Job. */
export type JobFailure = Extract<JobDecision, {kind: 'failed'}>;

const DEFAULT_BACKOFF_LIMIT = 6;

/** Failure of a Job that has run longer than its activeDeadlineSeconds. */
export const JOB_DEADLINE_EXCEEDED: JobFailure = {
  kind: 'failed',
  reason: 'DeadlineExceeded',
  message: 'Job was active longer than specified deadline',
};

const TOO_MANY_RESTARTS: JobFailure = {
  kind: 'failed',
  reason: 'BackoffLimitExceeded',
  message: 'Job has reached the specified backoff limit',
};

/** Returns what decides about a Job from the last status of a pod that has terminated. */
export function describeFinishedPod(
  place: JobPodPlace,
  {containerStatuses = [], initContainerStatuses = [], conditions = []}: PodStatus,
  succeeded: boolean,
): FinishedJobPod {
  const exits = [...initContainerStatuses, ...containerStatuses].flatMap(({name, state}) =>
    state?.terminated === undefined ? [] : [{container: name, exitCode: state.terminated.exitCode}],
  );
  return {place, succeeded, exits, conditions};
}

/** Returns the number of restarts of all containers of a pod. */
export function countRestarts({containerStatuses = [], initContainerStatuses = []}: PodStatus): number {
  return [...initContainerStatuses, ...containerStatuses].reduce(
    (sum, {restartCount}) => sum + restartCount,
    0,
  );
}

/**
 * Returns the failure of a Job whose containers have restarted too often, as the sum over its pods
 * (pastBackoffLimitOnFailure); undefined if they have not, or if containers are not restarted.
 */
export function findRestartFailure({spec}: Job, restarts: number): JobFailure | undefined {
  const {backoffLimit = DEFAULT_BACKOFF_LIMIT, template} = spec;
  if (template.spec.restartPolicy !== 'OnFailure') return undefined;
  const isExceeded = backoffLimit === 0 ? restarts > 0 : restarts >= backoffLimit;
  return isExceeded ? TOO_MANY_RESTARTS : undefined;
}
