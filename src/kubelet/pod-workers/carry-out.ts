import type {Pod} from '../../api/v1.js';
import type {PodStatus} from '../../api/v1-status.js';
import {messageOf} from '../../base/errors.js';
import type {EventSink} from '../container/events.js';
import type {PodCache, RunningPod} from '../container/pleg.js';
import type {RuntimePodStatus} from '../container/pod-status.js';
import type {PendingWork, SyncOutcome, WorkerState, WorkKind} from './worker-state.js';

/** What workers do to pods (pod_workers.go podSyncer). What a method rejects with is tried again later. */
export interface PodSyncHandler {
  syncPod(pod: Pod, status: RuntimePodStatus, signal: AbortSignal): Promise<SyncOutcome>;
  /** Resolves when no container of the pod runs any more. */
  syncTerminatingPod(pod: Pod, status: RuntimePodStatus, end: PodEnd): Promise<void>;
  /** The same for a pod that only the runtime knows. */
  syncTerminatingRuntimePod(pod: RunningPod): Promise<void>;
  /** Resolves when what the pod had on the node is gone. */
  syncTerminatedPod(pod: Pod, status: RuntimePodStatus, signal: AbortSignal): Promise<void>;
}

/** How a pod ends. */
export interface PodEnd {
  readonly gracePeriodSeconds: number;
  readonly status: ((status: PodStatus) => PodStatus) | undefined;
}

/** What a worker's work is carried out with. */
export interface WorkContext {
  readonly handler: PodSyncHandler;
  readonly cache: PodCache;
  readonly events: EventSink;
}

const DONE: SyncOutcome = {isTerminal: false};

/**
 * Does one piece of a worker's work, from a status that is newer than its last one (podWorkerLoop). Rejects with what
 * the handler rejects with, with why there is no status, and with the signal's reason.
 */
export async function carryOut(
  context: WorkContext,
  worker: WorkerState,
  {pod, running}: PendingWork,
  {kind, signal}: {readonly kind: WorkKind; readonly signal: AbortSignal},
): Promise<SyncOutcome> {
  const {handler} = context;
  if (pod === undefined) {
    if (running !== undefined) await handler.syncTerminatingRuntimePod(running);
    return DONE;
  }
  const status = await newerStatus(context, worker, pod, signal);
  switch (kind) {
    case 'sync':
      worker.observedRuntime = true;
      return await handler.syncPod(pod, status, signal);
    case 'terminating':
      await handler.syncTerminatingPod(pod, status, {
        gracePeriodSeconds: worker.gracePeriodSeconds,
        status: worker.statusOverride,
      });
      return DONE;
    case 'terminated':
      await handler.syncTerminatedPod(pod, status, signal);
      return DONE;
  }
}

async function newerStatus(
  {cache, events}: WorkContext,
  worker: WorkerState,
  pod: Pod,
  signal: AbortSignal,
): Promise<RuntimePodStatus> {
  worker.waitsFor = 'status';
  try {
    return await cache.getNewerThan(worker.ref.uid, worker.lastSyncTime, signal);
  } catch (error) {
    signal.throwIfAborted();
    const message = `error determining status: ${messageOf(error)}`;
    events({type: 'Warning', reason: 'FailedSync', message, pod});
    throw error;
  } finally {
    worker.waitsFor = undefined;
  }
}
