import type {Pod} from '../../../api/types/v1-pod.js';
import {hasEnded, type PodStatus} from '../../../api/types/v1-status.js';
import type {CacheMark, RunningPod} from '../../contract/pleg.js';
import type {WorkKind} from '../../contract/pod-worker-summary.js';
import type {PodRef} from '../../contract/pod-ref.js';
import {isLive, type RuntimePodStatus} from '../../contract/runtime-pod-status.js';

/** Options of a pod's termination (pod_workers.go KillPodOptions). */
export interface KillOptions {
  /** True if the kubelet evicts the pod, so that its containers are removed from the runtime. */
  readonly evict?: boolean;
  /** Override of the pod's own grace period, in seconds, if it is shorter. */
  readonly gracePeriodSeconds?: number | undefined;
  /** Function applied to the computed status of the terminating pod. */
  readonly status?: ((status: PodStatus) => PodStatus) | undefined;
  /** Called when all containers of the pod have stopped. */
  readonly onCompleted?: () => void;
}

/** A change of one pod, for its worker (pod_workers.go UpdatePodOptions). */
export type WorkerUpdate =
  | {readonly type: 'create' | 'update' | 'sync'; readonly pod: Pod}
  | {readonly type: 'kill'; readonly pod: Pod; readonly kill?: KillOptions}
  /** Kill of a pod known only from the runtime. */
  | {readonly type: 'kill'; readonly running: RunningPod; readonly kill?: KillOptions};

/** Cause of a termination: deleted, evicted by the kubelet, or another (it completed, or its source removed it). */
export type TerminationCause = 'deleted' | 'evicted' | 'other';

/** Common state of a worker whose pod no longer syncs. */
interface Termination {
  /** Time at which termination was requested, in ms since the epoch. */
  readonly terminatingAt: number;
  cause: TerminationCause;
  /** Effective grace period, in seconds; 0 until it is computed. */
  gracePeriodSeconds: number;
  /** True if the same pod was created again in the meantime. */
  restartRequested: boolean;
}

/** State of a worker while the pod's containers are being stopped (SyncTerminatingPod). */
export interface TerminatingState extends Termination {
  readonly kind: 'terminating';
  statusOverride?: KillOptions['status'];
  /** Callbacks for when all containers of the pod have stopped. */
  readonly completed: (() => void)[];
}

/** State of a worker while the resources of a stopped pod are released on the node (SyncTerminatedPod). */
export interface TerminatedState extends Termination {
  readonly kind: 'terminated';
  /** Time of termination, in ms since the epoch. */
  readonly terminatedAt: number;
}

/** Final state of a worker. */
export interface FinishedState extends Termination {
  readonly kind: 'finished';
  /** Time of termination, in ms since the epoch; undefined for a static pod that was terminated before it started. */
  readonly terminatedAt: number | undefined;
}

/** Lifecycle of a pod worker, which only advances: sync → terminating → terminated → finished. */
export type WorkerLifecycle = {readonly kind: 'sync'} | TerminatingState | TerminatedState | FinishedState;

/** Activity of the worker's loop, with the controller that interrupts the work in progress. */
export type WorkerActivity =
  | {readonly kind: 'idle'}
  | {readonly kind: 'running'; readonly cancel: AbortController | undefined};

/** State of one pod's worker (pod_workers.go podSyncStatus). Times are in ms since the epoch. */
export interface WorkerState {
  readonly ref: PodRef;
  lifecycle: WorkerLifecycle;
  activity: WorkerActivity;
  /** Start of the first sync. */
  startedAt?: number;
  pending?: PendingWork | undefined;
  /** Work in progress, or the last work. */
  active?: PendingWork | undefined;
  /** End of the last work; 0 before the first. */
  lastSyncTime: number;
  /** End of the last work that may have changed the pod in the runtime; the next work needs a newer status. */
  lastSyncMark: CacheMark;
  /** Error of the last work. */
  lastError?: unknown;
  /** Reason why the work has not started. */
  waitsFor?: 'turn' | 'status' | undefined;
}

/** Next work of a worker. */
export interface PendingWork {
  readonly type: WorkerUpdate['type'];
  readonly pod: Pod | undefined;
  readonly running: RunningPod | undefined;
  /** Time of the first update that this work handles. */
  readonly requestedAt: number;
}

/** Report of a worker for introspection. Times are in ms since the epoch. */
export interface WorkerReport {
  readonly kind: WorkerLifecycle['kind'];
  /** True if work is in progress. */
  readonly isWorking: boolean;
  /**
   * `turn`: waits for another static pod of the same name. `status`: waits for a runtime status newer than the last
   * work.
   */
  readonly waitsFor: WorkerState['waitsFor'];
  readonly terminatingAt: number | undefined;
  /** Effective grace period, in seconds; 0 while the pod syncs. */
  readonly gracePeriodSeconds: number;
  readonly lastSyncAt: number | undefined;
  /** Error of the last work. */
  readonly error: unknown;
  /** Time of the next periodic sync. */
  readonly nextSyncAt: number | undefined;
}

export function createWorkerState(ref: PodRef): WorkerState {
  return {ref, lifecycle: {kind: 'sync'}, activity: {kind: 'idle'}, lastSyncTime: 0, lastSyncMark: 0};
}

export function createTerminatingState(terminatingAt: number, cause: TerminationCause): TerminatingState {
  return {
    kind: 'terminating',
    terminatingAt,
    cause,
    gracePeriodSeconds: 0,
    restartRequested: false,
    completed: [],
  };
}

/** Returns the terminated state that follows the terminating state. */
export function toTerminated(state: TerminatingState, terminatedAt: number): TerminatedState {
  return {kind: 'terminated', terminatedAt, ...terminationOf(state)};
}

/** Returns the finished state that follows a terminating or terminated state. */
export function toFinished(state: Exclude<WorkerLifecycle, {kind: 'sync'}>): FinishedState {
  const terminatedAt = state.kind === 'terminating' ? undefined : state.terminatedAt;
  return {kind: 'finished', terminatedAt, ...terminationOf(state)};
}

function terminationOf({
  terminatingAt,
  cause,
  gracePeriodSeconds,
  restartRequested,
}: Termination): Termination {
  return {terminatingAt, cause, gracePeriodSeconds, restartRequested};
}

/** Returns the kind of the worker's next work, or of its last work if it is finished. */
export function workKind(lifecycle: WorkerLifecycle): WorkKind {
  switch (lifecycle.kind) {
    case 'sync':
    case 'terminating':
    case 'terminated':
      return lifecycle.kind;
    case 'finished':
      return isTerminated(lifecycle) ? 'terminated' : 'terminating';
    default:
      return lifecycle satisfies never;
  }
}

/** Reports whether all containers of the pod have stopped. */
export function isTerminated(lifecycle: WorkerLifecycle): boolean {
  switch (lifecycle.kind) {
    case 'sync':
    case 'terminating':
      return false;
    case 'terminated':
      return true;
    case 'finished':
      return lifecycle.terminatedAt !== undefined;
    default:
      return lifecycle satisfies never;
  }
}

/** Reports whether the pod terminates or has terminated because it was evicted. */
export function isEvicted(lifecycle: WorkerLifecycle): boolean {
  return lifecycle.kind !== 'sync' && lifecycle.cause === 'evicted';
}

/**
 * Reports whether the dead containers of a pod may be removed: it was evicted or deleted and has terminated. A kubelet
 * already removes those of an evicted pod while it terminates, but its PLEG is slower than its status.
 */
export function shouldContentBeRemoved(lifecycle: WorkerLifecycle): boolean {
  return isTerminated(lifecycle) && lifecycle.kind !== 'sync' && lifecycle.cause !== 'other';
}

/** Returns the cause if the update terminates a syncing pod; undefined otherwise (UpdatePod). */
export function computeTermination(update: WorkerUpdate): TerminationCause | undefined {
  if (!('pod' in update)) return 'deleted';
  const {metadata, status} = update.pod;
  if (metadata.deletionTimestamp !== undefined) return 'deleted';
  if (hasEnded(status?.phase)) return 'other';
  if (update.type !== 'kill') return undefined;
  return update.kill?.evict === true ? 'evicted' : 'other';
}

/** Returns the effective grace period in seconds, at least 1; it never grows (calculateEffectiveGracePeriod). */
export function computeEffectiveGracePeriod(
  current: number,
  pod: Pod | undefined,
  override: number | undefined,
): number {
  const limits = [pod?.metadata.deletionGracePeriodSeconds, override].filter((limit) => limit !== undefined);
  const own = current === 0 && limits.length === 0 ? (pod?.spec.terminationGracePeriodSeconds ?? 0) : current;
  const shortest = limits.reduce((grace, limit) => (grace === 0 || limit < grace ? limit : grace), own);
  return Math.max(1, shortest);
}

/** Error of a sync that waits for the runtime's network; retried soon (transientBackoff). */
export class NetworkNotReadyError extends Error {
  override readonly name = 'NetworkNotReadyError';
}

/** Outcome of a sync that did not throw. */
export interface SyncOutcome {
  /** True if the pod reached a terminal phase, so that its remaining containers are stopped. */
  readonly isTerminal: boolean;
  /** True if the work may have changed the pod in the runtime. */
  readonly hasActed: boolean;
  /** True if another sync must follow at once. */
  readonly syncAgain?: boolean;
  /** Time until which the sandbox may be ending, so that containers start later, in ms since the epoch. */
  readonly settlesAt?: number | undefined;
  /** Error of an incomplete sync; undefined if it was complete. */
  readonly error?: unknown;
  /** Time of the next attempt of what failed, or else of the next refresh of volumes, in ms since the epoch. */
  readonly retryAt?: number | undefined;
}

/** Delays of a pod worker, in milliseconds (pod_workers.go). */
const ERROR_BACKOFF_MS = 10_000;
const TRANSIENT_BACKOFF_MS = 1000;
const JITTER = 0.5;

/**
 * Returns the delay until the next sync, in ms (completeWork). `random` in [0, 1) adds up to half of it, so that pods
 * started together spread out.
 */
export function computeRequeueDelay(
  {error, retryAt}: Pick<SyncOutcome, 'error' | 'retryAt'>,
  {
    now,
    syncFrequencyMs,
    random,
  }: {readonly now: number; readonly syncFrequencyMs: number; readonly random: number},
): number {
  return addJitter(baseDelay(error, retryAt, now, syncFrequencyMs), random);
}

function baseDelay(
  error: unknown,
  retryAt: number | undefined,
  now: number,
  syncFrequencyMs: number,
): number {
  if (error instanceof NetworkNotReadyError) return TRANSIENT_BACKOFF_MS;
  if (retryAt === undefined) return error === undefined ? syncFrequencyMs : ERROR_BACKOFF_MS;
  return Math.min(Math.max(retryAt - now, 0), syncFrequencyMs);
}

export function addJitter(ms: number, random: number): number {
  return ms * (1 + random * JITTER);
}

/** Period in which a static pod checks whether another pod of its name has finished, in ms. */
export const STATIC_POD_START_WAIT_MS = ERROR_BACKOFF_MS;

/** Replaces the kill of a runtime pod by a kill of its desired pod, if the worker knows it. */
export function resolveKnownPod(update: WorkerUpdate, {pending, active}: WorkerState): WorkerUpdate {
  if ('pod' in update) return update;
  const pod = pending?.pod ?? active?.pod;
  return pod === undefined ? update : {type: 'kill', pod, ...(update.kill && {kill: update.kill})};
}

export function createWork(update: WorkerUpdate, requestedAt: number): PendingWork {
  const {type} = update;
  return 'pod' in update
    ? {type, pod: update.pod, running: undefined, requestedAt}
    : {type, pod: undefined, running: update.running, requestedAt};
}

/** Adds the update's kill options to a terminating pod. Returns whether a known grace period became shorter. */
export function applyKillOptions({lifecycle}: WorkerState, update: WorkerUpdate): boolean {
  const kill = update.type === 'kill' ? update.kill : undefined;
  if (lifecycle.kind !== 'terminating') {
    kill?.onCompleted?.();
    return false;
  }
  const {onCompleted, status = lifecycle.statusOverride, gracePeriodSeconds} = kill ?? {};
  if (onCompleted !== undefined) lifecycle.completed.push(onCompleted);
  lifecycle.statusOverride = status;
  const before = lifecycle.gracePeriodSeconds;
  const pod = 'pod' in update ? update.pod : undefined;
  lifecycle.gracePeriodSeconds = computeEffectiveGracePeriod(before, pod, gracePeriodSeconds);
  return before !== 0 && before !== lifecycle.gracePeriodSeconds;
}

/** Reports whether the pod was terminal before this kubelet knew it, so that only its leftovers must be removed. */
export function hasEndedBefore(update: WorkerUpdate, lastSeen: () => RuntimePodStatus | undefined): boolean {
  const phase = 'pod' in update ? update.pod.status?.phase : undefined;
  if (!hasEnded(phase)) return false;
  const status = lastSeen();
  return status !== undefined && !isLive(status);
}
