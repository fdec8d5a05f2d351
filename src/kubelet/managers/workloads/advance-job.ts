import {hasEnded, type PodStatus} from '../../../api/types/v1-status.js';
import type {Job} from '../../../api/types/v1-workloads.js';
import {
  countRestarts,
  describeFinishedPod,
  findRestartFailure,
  JOB_DEADLINE_EXCEEDED,
} from '../../../api/workloads/job-pod-status.js';
import {decideJob, type JobDecision} from '../../../api/workloads/job-progress.js';
import type {PodUid} from '../../../cri/index.js';
import {startPods, type JobState} from './job-state.js';

/** Next state of a Job. */
export interface JobStep {
  readonly state: JobState;
  /** Time of the next decision, in ms since the epoch; undefined if only a change of a pod is awaited. */
  readonly checkAtMs: number | undefined;
}

/**
 * Returns the next state of a Job from the statuses of its pods, as the Job controller decides it. A Job that has
 * completed or failed remains unchanged.
 */
export function advanceJob(
  job: Job,
  previous: JobState,
  statusOf: (uid: PodUid) => PodStatus | undefined,
  nowMs: number,
): JobStep {
  const state = takeEnded(previous, statusOf, nowMs);
  if (state.result !== undefined) return {state, checkAtMs: undefined};
  if (job.spec.suspend === true) return suspend(state);
  const started = {...state, startedAtMs: state.startedAtMs ?? nowMs};
  const deadlineMs = deadlineOf(job, started.startedAtMs);
  const decision = nowMs >= deadlineMs ? JOB_DEADLINE_EXCEEDED : decide(job, started, statusOf);
  if (decision.kind !== 'run') {
    const {kind, reason, message} = {reason: undefined, message: undefined, ...decision};
    const result = {kind, atMs: nowMs, ...(reason !== undefined && {reason, message})};
    return {state: {...started, active: [], result}, checkAtMs: undefined};
  }
  const checkAtMs = Number.isFinite(deadlineMs) ? deadlineMs : undefined;
  if (decision.places.length === 0) return {state: sameOr(previous, started), checkAtMs};
  const startAtMs = (started.ended.at(-1)?.endedAtMs ?? nowMs) + decision.delayMs;
  if (nowMs < startAtMs)
    return {state: sameOr(previous, started), checkAtMs: Math.min(startAtMs, deadlineMs)};
  return {state: startPods(started, decision.places), checkAtMs};
}

/** Moves the active pods that have terminated to the ended ones. */
function takeEnded(
  state: JobState,
  statusOf: (uid: PodUid) => PodStatus | undefined,
  nowMs: number,
): JobState {
  const ended = state.active.flatMap((pod) => {
    const status = statusOf(pod.uid);
    return status !== undefined && hasEnded(status.phase) ? [{...pod, endedAtMs: nowMs, status}] : [];
  });
  if (ended.length === 0) return state;
  const uids = new Set(ended.map(({uid}) => uid));
  const active = state.active.filter(({uid}) => !uids.has(uid));
  return {...state, active, ended: [...state.ended, ...ended]};
}

function decide(
  job: Job,
  {active, ended}: JobState,
  statusOf: (uid: PodUid) => PodStatus | undefined,
): JobDecision {
  const statuses = [...ended.map(({status}) => status), ...active.map(({uid}) => statusOf(uid) ?? {})];
  const restarts = statuses.reduce((sum, status) => sum + countRestarts(status), 0);
  const finished = ended.map(({place, status}) =>
    describeFinishedPod(place, status, status.phase === 'Succeeded'),
  );
  return (
    findRestartFailure(job, restarts) ?? decideJob(job, {active: active.map(({place}) => place), finished})
  );
}

/** Returns the state without running pods and without a start time (suspendJob). */
function suspend(state: JobState): JobStep {
  const isSuspended = state.active.length === 0 && state.startedAtMs === undefined;
  return {
    state: isSuspended ? state : {...state, active: [], startedAtMs: undefined},
    checkAtMs: undefined,
  };
}

function deadlineOf({spec: {activeDeadlineSeconds}}: Job, startedAtMs: number): number {
  return activeDeadlineSeconds === undefined
    ? Number.POSITIVE_INFINITY
    : startedAtMs + activeDeadlineSeconds * 1000;
}

/** Returns the previous state if nothing has changed, so that it need not be stored again. */
function sameOr(previous: JobState, next: JobState): JobState {
  const isSame =
    previous.active === next.active &&
    previous.ended === next.ended &&
    previous.startedAtMs === next.startedAtMs;
  return isSame ? previous : next;
}

/** Returns the time until which the ended pods of a Job are kept, in ms since the epoch (ttlSecondsAfterFinished). */
export function keptUntilMs({spec: {ttlSecondsAfterFinished}}: Job, {result}: JobState): number {
  return result === undefined || ttlSecondsAfterFinished === undefined
    ? Number.POSITIVE_INFINITY
    : result.atMs + ttlSecondsAfterFinished * 1000;
}
