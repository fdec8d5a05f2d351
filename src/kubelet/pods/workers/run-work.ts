import type {Pod} from '../../../api/types/v1-pod.js';
import type {PodStatus} from '../../../api/types/v1-status.js';
import type {Clock} from '../../../base/clock.js';
import {messageOf} from '../../../base/errors.js';
import type {PodUid} from '../../../cri/index.js';
import type {EventSink} from '../../contract/pod-event.js';
import type {PodCache, RunningPod} from '../../contract/pleg.js';
import type {KubeletTracer} from '../../contract/observation/kubelet-tracer.js';
import type {RuntimePodStatus} from '../../contract/runtime-pod-status.js';
import type {PendingWork, SyncOutcome, WorkerLifecycle, WorkerState} from './worker-state.js';

/** Operations of pod workers (pod_workers.go podSyncer). Work that rejects is retried later. */
export interface PodSyncHandler {
  syncPod(pod: Pod, status: RuntimePodStatus, signal: AbortSignal): Promise<SyncOutcome>;
  /** Resolves when all containers of the pod have stopped, with true if this may have changed the pod in the runtime. */
  syncTerminatingPod(pod: Pod, status: RuntimePodStatus, end: TerminationOptions): Promise<boolean>;
  /** Resolves when all containers of a pod known only from the runtime have stopped. */
  syncTerminatingRuntimePod(pod: RunningPod): Promise<void>;
  /** Resolves when the pod's resources on the node are released. */
  syncTerminatedPod(pod: Pod, status: RuntimePodStatus, signal: AbortSignal): Promise<void>;
}

/** Options of the termination of one pod. */
export interface TerminationOptions {
  readonly gracePeriodSeconds: number;
  readonly status: ((status: PodStatus) => PodStatus) | undefined;
  /** Signal that interrupts the waits for containers to stop; none by default. */
  readonly signal?: AbortSignal;
}

/** Dependencies of runWork. */
export interface WorkContext {
  readonly handler: PodSyncHandler;
  readonly cache: PodCache;
  readonly events: EventSink;
  readonly clock: Clock;
  /** Traces the work; by default it is not traced. */
  readonly tracer?: Pick<KubeletTracer, 'tracePod'> | undefined;
  /** Requests that the runtime status of a pod is read, and lifecycle events are sent for what has changed. */
  readonly requestRelist: (uid: PodUid) => void;
}

/** Time between two checks of a sandbox that may be ending, in ms. */
const SANDBOX_CHECK_MS = 100;

interface RunOptions {
  readonly lifecycle: WorkerLifecycle;
  readonly signal: AbortSignal;
}

const DONE: SyncOutcome = {isTerminal: false, hasActed: false};

/**
 * Runs one unit of a worker's work with a runtime status newer than its last work (podWorkerLoop). Requests
 * a relist if the work may have changed the pod: runtimes emit no event for a container that could not be started.
 * `lifecycle` is that of the start of the work. Rejects with the handler's error, with the error of reading the status,
 * and with the signal's reason.
 */
export async function runWork(
  context: WorkContext,
  worker: WorkerState,
  work: PendingWork,
  options: RunOptions,
): Promise<SyncOutcome> {
  const {cache, clock, requestRelist} = context;
  let outcome: SyncOutcome | undefined;
  try {
    outcome = await runUnit(context, worker, work, options);
    return outcome;
  } finally {
    worker.lastSyncTime = clock.now();
    // Work that fails may have done a part of it.
    if (outcome?.hasActed !== false) worker.lastSyncMark = cache.mark();
    if (outcome?.hasActed === true) requestRelist(worker.ref.uid);
  }
}

async function runUnit(
  context: WorkContext,
  worker: WorkerState,
  {type, pod, running}: PendingWork,
  {lifecycle, signal}: RunOptions,
): Promise<SyncOutcome> {
  const {handler} = context;
  if (pod === undefined) {
    if (running !== undefined) await handler.syncTerminatingRuntimePod(running);
    return DONE;
  }
  const status = await newerStatus(context, worker, pod, signal);
  const traced = context.tracer === undefined ? handler : traceHandler(handler, context.tracer, type);
  switch (lifecycle.kind) {
    case 'sync': {
      const outcome = await traced.syncPod(pod, status, signal);
      await waitForSandbox(context, outcome, signal);
      return outcome;
    }
    case 'terminating': {
      const {gracePeriodSeconds, statusOverride} = lifecycle;
      const end = {gracePeriodSeconds, status: statusOverride};
      return {...DONE, hasActed: await traced.syncTerminatingPod(pod, status, end)};
    }
    case 'terminated':
      await traced.syncTerminatedPod(pod, status, signal);
      return DONE;
    case 'finished':
      return DONE;
    default:
      return lifecycle satisfies never;
  }
}

/** Returns the work on pods in a span each. `updateType` is why the pod is synced. */
function traceHandler(
  handler: PodSyncHandler,
  tracer: Pick<KubeletTracer, 'tracePod'>,
  updateType: PendingWork['type'],
): Pick<PodSyncHandler, 'syncPod' | 'syncTerminatingPod' | 'syncTerminatedPod'> {
  return {
    syncPod: async (pod, ...rest) =>
      await tracer.tracePod({
        ...{span: 'syncPod', pod, updateType},
        work: async () => await handler.syncPod(pod, ...rest),
        errorOf: ({error}) => error,
      }),
    syncTerminatingPod: async (pod, ...rest) =>
      await tracer.tracePod({
        ...{span: 'syncTerminatingPod', pod, updateType},
        work: async () => await handler.syncTerminatingPod(pod, ...rest),
      }),
    syncTerminatedPod: async (pod, ...rest) => {
      await tracer.tracePod({
        ...{span: 'syncTerminatedPod', pod, updateType},
        work: async () => {
          await handler.syncTerminatedPod(pod, ...rest);
        },
      });
    },
  };
}

/** Waits before the next check of a sandbox that may be ending. Rejects with the signal's reason. */
async function waitForSandbox(
  {clock}: WorkContext,
  {settlesAt}: SyncOutcome,
  signal: AbortSignal,
): Promise<void> {
  const ms = Math.min((settlesAt ?? 0) - clock.now(), SANDBOX_CHECK_MS);
  if (ms > 0) await clock.sleep(ms, signal);
}

async function newerStatus(
  {cache, events}: WorkContext,
  worker: WorkerState,
  pod: Pod,
  signal: AbortSignal,
): Promise<RuntimePodStatus> {
  worker.waitsFor = 'status';
  try {
    return await cache.getNewerThan(worker.ref.uid, worker.lastSyncMark, signal);
  } catch (error) {
    signal.throwIfAborted();
    const message = `error determining status: ${messageOf(error)}`;
    events({type: 'Warning', reason: 'FailedSync', message, pod});
    throw error;
  } finally {
    worker.waitsFor = undefined;
  }
}
