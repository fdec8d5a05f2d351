import type {Pod} from '../../api/v1.js';
import {hasEnded, type PodStatus} from '../../api/v1-status.js';
import type {RunningPod} from '../container/pleg.js';
import type {PodRef} from '../container/pod-ref.js';
import {isLive, type RuntimePodStatus} from '../container/pod-status.js';

/** How a pod is to be ended (pod_workers.go KillPodOptions). */
export interface KillOptions {
  /** The kubelet itself ends it: what it leaves in the runtime is removed. */
  readonly evict?: boolean;
  /** Replaces the pod's own grace period when it is shorter. */
  readonly gracePeriodSeconds?: number | undefined;
  /** Has the last say on the status of a pod that is being ended. */
  readonly status?: ((status: PodStatus) => PodStatus) | undefined;
  /** Called when nothing of the pod runs any more. */
  readonly onCompleted?: () => void;
}

/** Something new about a pod (pod_workers.go UpdatePodOptions). */
export type WorkerUpdate =
  | {readonly type: 'create' | 'update' | 'sync'; readonly pod: Pod}
  | {readonly type: 'kill'; readonly pod: Pod; readonly kill?: KillOptions}
  /** A pod that only the runtime knows. */
  | {readonly type: 'kill'; readonly running: RunningPod; readonly kill?: KillOptions};

/** What the next work on a pod is: a worker only ever goes on to the next one. */
export type WorkKind = 'sync' | 'terminating' | 'terminated';

/** All that is known of one pod's worker (pod_workers.go podSyncStatus). Times are ms since the epoch. */
export interface WorkerState {
  readonly ref: PodRef;
  /** When its first sync began. */
  startedAt?: number;
  /** When the pod was to end, and when nothing of it ran any more. */
  terminatingAt?: number;
  terminatedAt?: number;
  /** In force while it ends, seconds; 0 before. */
  gracePeriodSeconds: number;
  deleted: boolean;
  evicted: boolean;
  /** Nothing is left to do. */
  finished: boolean;
  /** The same pod was wanted again while this one was ending. */
  restartRequested: boolean;
  /** Something of the pod has been seen in the runtime, or may have been made. */
  observedRuntime: boolean;
  statusOverride?: ((status: PodStatus) => PodStatus) | undefined;
  readonly completed: (() => void)[];
  pending?: PendingWork | undefined;
  active?: PendingWork | undefined;
  /** Ends the waits of the work under way. */
  cancel?: AbortController | undefined;
  isRunning: boolean;
  /** When the last work ended. */
  lastSyncTime: number;
  /** Why the last work failed. */
  lastError?: unknown;
  /** What the work waits for before it does anything. */
  waitsFor?: 'turn' | 'status' | undefined;
}

/** What a worker does next. */
export interface PendingWork {
  readonly type: WorkerUpdate['type'];
  readonly pod: Pod | undefined;
  readonly running: RunningPod | undefined;
  /** When the first update came that this work answers. */
  readonly requestedAt: number;
}

/** How a worker stands, for who looks. Times are in ms since the epoch. */
export interface WorkerReport {
  readonly kind: WorkKind | 'finished';
  /** Whether work is under way. */
  readonly isWorking: boolean;
  /** The end of another static pod of the same name, or a status that is newer than its last work. */
  readonly waitsFor: WorkerState['waitsFor'];
  /** When the pod was to end, and how long it has for that, seconds. */
  readonly terminatingAt: number | undefined;
  readonly gracePeriodSeconds: number;
  /** When its last work ended, and why that failed. */
  readonly lastSyncAt: number | undefined;
  readonly error: unknown;
  /** When it is synced next on its own. */
  readonly nextSyncAt: number | undefined;
}

export function newWorker(ref: PodRef): WorkerState {
  return {
    ref,
    gracePeriodSeconds: 0,
    deleted: false,
    evicted: false,
    finished: false,
    restartRequested: false,
    observedRuntime: false,
    completed: [],
    isRunning: false,
    lastSyncTime: 0,
  };
}

export function workKind({terminatingAt, terminatedAt}: WorkerState): WorkKind {
  if (terminatedAt !== undefined) return 'terminated';
  return terminatingAt === undefined ? 'sync' : 'terminating';
}

/** What an update makes of a pod that was to run so far; undefined when it goes on running (UpdatePod). */
export function endingOf(
  update: WorkerUpdate,
): {readonly deleted: boolean; readonly evicted: boolean} | undefined {
  if (!('pod' in update)) return {deleted: true, evicted: false};
  const {metadata, status} = update.pod;
  if (metadata.deletionTimestamp !== undefined) return {deleted: true, evicted: false};
  if (hasEnded(status?.phase)) return {deleted: false, evicted: false};
  if (update.type !== 'kill') return undefined;
  return {deleted: false, evicted: update.kill?.evict ?? false};
}

/** The grace period in force, in seconds, at least 1: it never grows (calculateEffectiveGracePeriod). */
export function effectiveGracePeriod(
  current: number,
  pod: Pod | undefined,
  override: number | undefined,
): number {
  const limits = [pod?.metadata.deletionGracePeriodSeconds, override].filter((limit) => limit !== undefined);
  const own = current === 0 && limits.length === 0 ? (pod?.spec.terminationGracePeriodSeconds ?? 0) : current;
  const shortest = limits.reduce((grace, limit) => (grace === 0 || limit < grace ? limit : grace), own);
  return Math.max(1, shortest);
}

/** The runtime's network isn't ready yet: tried again soon (transientBackoff). */
export class NetworkNotReadyError extends Error {
  override readonly name = 'NetworkNotReadyError';
}

/** How a sync ended without a fault. */
export interface SyncOutcome {
  /** The pod has run to its end: what is left of it is to be stopped. */
  readonly isTerminal: boolean;
  /** The next sync is to come at once. */
  readonly again?: boolean;
  /** Why the sync did not do all it was to; undefined when it did. */
  readonly error?: unknown;
  /** The end of the earliest back-off among what failed, ms since the epoch. */
  readonly retryAt?: number | undefined;
}

/** A pod worker's waits, in milliseconds (pod_workers.go). */
const ERROR_BACKOFF_MS = 10_000;
const TRANSIENT_BACKOFF_MS = 1000;
const JITTER = 0.5;

/**
 * After which time a pod is synced again on its own (completeWork), in milliseconds. `random` is in [0, 1): half as
 * much again at most, so that pods of one time don't stay together.
 */
export function requeueDelay(
  {error, retryAt}: Pick<SyncOutcome, 'error' | 'retryAt'>,
  {
    now,
    syncFrequencyMs,
    random,
  }: {readonly now: number; readonly syncFrequencyMs: number; readonly random: number},
): number {
  return jittered(baseDelay(error, retryAt, now, syncFrequencyMs), random);
}

function baseDelay(
  error: unknown,
  retryAt: number | undefined,
  now: number,
  syncFrequencyMs: number,
): number {
  if (error === undefined) return syncFrequencyMs;
  if (error instanceof NetworkNotReadyError) return TRANSIENT_BACKOFF_MS;
  if (retryAt === undefined) return ERROR_BACKOFF_MS;
  return Math.min(Math.max(retryAt - now, 0), syncFrequencyMs);
}

export function jittered(ms: number, random: number): number {
  return ms * (1 + random * JITTER);
}

/** How long a static pod waits for another one of its name before it asks again. */
export const TURN_WAIT_MS = ERROR_BACKOFF_MS;

/** A runtime's pod of which the wanted pod is known is ended as that one. */
export function withKnownPod(update: WorkerUpdate, {pending, active}: WorkerState): WorkerUpdate {
  if ('pod' in update) return update;
  const pod = pending?.pod ?? active?.pod;
  return pod === undefined ? update : {type: 'kill', pod, ...(update.kill && {kill: update.kill})};
}

export function workOf(update: WorkerUpdate, requestedAt: number): PendingWork {
  const {type} = update;
  return 'pod' in update
    ? {type, pod: update.pod, running: undefined, requestedAt}
    : {type, pod: undefined, running: update.running, requestedAt};
}

/** Adds what a pod that ends is to end like. True when its grace period was known before and became shorter. */
export function takeKillOptions(worker: WorkerState, update: WorkerUpdate): boolean {
  const kill = update.type === 'kill' ? update.kill : undefined;
  if (worker.terminatedAt !== undefined || worker.terminatingAt === undefined) {
    kill?.onCompleted?.();
    return false;
  }
  const {onCompleted, status = worker.statusOverride, gracePeriodSeconds} = kill ?? {};
  if (onCompleted !== undefined) worker.completed.push(onCompleted);
  worker.statusOverride = status;
  const before = worker.gracePeriodSeconds;
  const pod = 'pod' in update ? update.pod : undefined;
  worker.gracePeriodSeconds = effectiveGracePeriod(before, pod, gracePeriodSeconds);
  return before !== 0 && before !== worker.gracePeriodSeconds;
}

/** Whether the pod had run to its end before this kubelet knew of it: only what it left is to be cleared. */
export function hasEndedBefore(update: WorkerUpdate, lastSeen: () => RuntimePodStatus): boolean {
  const phase = 'pod' in update ? update.pod.status?.phase : undefined;
  return hasEnded(phase) && !isLive(lastSeen());
}
