import type {LiveValue} from '../../contract/live-value.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import {hasEnded} from '../../../api/types/v1-status.js';
import {runInBackground} from '../../../base/async/background-work.js';
import {timestampOf, type RandomSource} from '../../../base/clock.js';
import {isExpectedError} from '../../../base/errors.js';
import type {FileLogger, Logger} from '../../../base/logger.js';
import type {PodUid} from '../../../cri/index.js';
import {isStaticPod} from '../../sources/static-pod.js';
import type {WorkerSummary} from '../../contract/pod-worker-summary.js';
import type {KubeletMetrics} from '../../contract/kubelet-metrics.js';
import {namespacedName, podFullName, podRef, type PodRef} from '../../contract/pod-ref.js';
import {runWork, type WorkContext} from './run-work.js';
import {StaticPodStartQueue} from './static-pod-start-queue.js';
import {
  computeEffectiveGracePeriod,
  computeTermination,
  hasEndedBefore,
  addJitter,
  createWorkerState,
  computeRequeueDelay,
  createTerminatingState,
  applyKillOptions,
  isEvicted,
  isTerminated,
  shouldContentBeRemoved,
  toFinished,
  toTerminated,
  STATIC_POD_START_WAIT_MS,
  resolveKnownPod,
  workKind,
  createWork,
  type PendingWork,
  type SyncOutcome,
  type TerminationCause,
  type WorkerLifecycle,
  type WorkerReport,
  type WorkerState,
  type WorkerUpdate,
} from './worker-state.js';
import {WorkQueue} from './work-queue.js';

/** Dependencies of PodWorkers. */
export interface PodWorkersOptions extends WorkContext {
  /** Returns the pod with its allocated resources; by default with those that it requests. */
  readonly allocated?: (pod: Pod) => Pod;
  readonly random: RandomSource;
  readonly logger: Logger;
  /** Period of the sync of an idle pod, in ms (syncFrequency). */
  readonly syncFrequencyMs: LiveValue<number>;
  readonly metrics?: Pick<KubeletMetrics, 'workCompleted'>;
  /** Called for a programming error in the work of a pod, after it was logged; must not throw. */
  readonly onInternalError?: (pod: Pod, error: unknown) => void;
  /** Called when a worker has nothing left to do for its pod; must not throw. */
  readonly onFinished?: ((uid: PodUid, wasEvicted: boolean) => void) | undefined;
}

const RANDOM_RANGE = 2 ** 32;

/**
 * Runs one worker per pod UID, each with one unit of work at a time: sync → terminating → terminated, never back
 * (pod_workers.go). Housekeeping restarts a pod that is created again while it terminates.
 */
export class PodWorkers {
  readonly #options: PodWorkersOptions;
  readonly #logger: FileLogger;
  readonly #workers = new Map<PodUid, WorkerState>();
  readonly #queue = new WorkQueue();
  readonly #turns = new StaticPodStartQueue();
  /** True if the first housekeeping has run; from then on, a pod without a worker is not desired. */
  #synced = false;
  #stopped = false;
  /** Called when all workers are idle. */
  readonly #onIdle: (() => void)[] = [];

  constructor(options: PodWorkersOptions) {
    this.#options = options;
    this.#logger = options.logger.forFile('pod-workers.ts');
  }

  /** Queues work for the pod, which starts at once if none is in progress (UpdatePod). */
  update(given: WorkerUpdate): void {
    const {clock, cache} = this.#options;
    const now = clock.now();
    const ref = 'pod' in given ? podRef(given.pod) : given.running;
    const known = this.#workers.get(ref.uid);
    const worker = known ?? createWorkerState(ref);
    this.#workers.set(ref.uid, worker);
    const update = resolveKnownPod(given, worker);
    if (known === undefined && hasEndedBefore(update, () => cache.lastSeen(ref.uid)))
      worker.lifecycle = toTerminated(createTerminatingState(now, 'other'), now);
    // A pod that ended before the daemon started is released; one that is created again runs again.
    if (known !== undefined && known.lifecycle.kind !== 'sync' && update.type === 'create') {
      known.lifecycle.restartRequested = true;
      return;
    }
    if (worker.lifecycle.kind !== 'finished') this.#take(worker, update, now);
    else if (update.type === 'kill') update.kill?.onCompleted?.();
  }

  #take(worker: WorkerState, update: WorkerUpdate, now: number): void {
    const cause = worker.lifecycle.kind === 'sync' ? computeTermination(update) : undefined;
    if (cause !== undefined) worker.lifecycle = createTerminatingState(now, cause);
    const shortened = applyKillOptions(worker, update);
    worker.pending = createWork(update, worker.pending?.requestedAt ?? this.#options.clock.monotonic());
    if (cause !== undefined || shortened) cancelWork(worker);
    this.#wake(worker);
  }

  #wake(worker: WorkerState): void {
    if (worker.activity.kind === 'running' || this.#stopped) return;
    worker.activity = {kind: 'running', cancel: undefined};
    const running = this.#run(worker).finally(() => {
      if (this.#isIdle()) for (const idle of this.#onIdle.splice(0)) idle();
    });
    runInBackground('pod worker', running);
  }

  async #run(worker: WorkerState): Promise<void> {
    try {
      while (!this.#stopped && worker.pending !== undefined && this.#mayStart(worker, worker.pending))
        await this.#next(worker, worker.pending);
    } finally {
      // Runs synchronously after the check above, so that no later update is missed.
      worker.activity = {kind: 'idle'};
    }
  }

  async #next(worker: WorkerState, pending: PendingWork): Promise<void> {
    const {allocated = (pod: Pod): Pod => pod} = this.#options;
    const work = pending.pod === undefined ? pending : {...pending, pod: allocated(pending.pod)};
    worker.pending = undefined;
    worker.active = work;
    worker.startedAt ??= this.#options.clock.now();
    const cancel = new AbortController();
    worker.activity = {kind: 'running', cancel};
    await this.#work(worker, work, cancel.signal);
    worker.activity = {kind: 'running', cancel: undefined};
  }

  /** Reports whether the pod may start (allowPodStart); a static pod terminated before its turn never starts. */
  #mayStart(worker: WorkerState, {pod}: PendingWork): boolean {
    if (worker.startedAt !== undefined || pod === undefined || !isStaticPod(pod)) return true;
    // Nothing of a pod that has ended before starts; that of a Job is released, and its status is restored.
    if (hasEnded(pod.status?.phase)) return true;
    const {uid} = worker.ref;
    if (worker.lifecycle.kind !== 'sync') {
      this.#finish(worker);
      return false;
    }
    worker.waitsFor = undefined;
    if (this.#turns.tryStart(podFullName(worker.ref), uid)) return true;
    worker.waitsFor = 'turn';
    this.#queue.add(
      uid,
      this.#options.clock.monotonic() + addJitter(STATIC_POD_START_WAIT_MS, this.#random()),
    );
    return false;
  }

  async #work(worker: WorkerState, work: PendingWork, signal: AbortSignal): Promise<void> {
    const {lifecycle} = worker;
    try {
      const outcome = await runWork(this.#options, worker, work, {lifecycle, signal});
      worker.lastError = outcome.error;
      this.#options.metrics?.workCompleted(work.type, this.#options.clock.monotonic() - work.requestedAt);
      this.#complete(worker, work, lifecycle, outcome);
    } catch (error) {
      worker.lastError = error;
      if (!signal.aborted) this.#logFailure(worker.ref, error);
      if (!signal.aborted && work.pod !== undefined && !isExpectedError(error))
        this.#options.onInternalError?.(work.pod, error);
      this.#requeue(worker, work, {error});
    }
  }

  /** Advances the worker after work that did not throw; `lifecycle` is that of the start of the work. */
  #complete(worker: WorkerState, work: PendingWork, lifecycle: WorkerLifecycle, outcome: SyncOutcome): void {
    if (work.pod === undefined) {
      this.#finish(worker);
      this.#workers.delete(worker.ref.uid);
      return;
    }
    switch (lifecycle.kind) {
      case 'sync':
        this.#completeSync(worker, work, outcome);
        return;
      case 'terminating':
        worker.lifecycle = toTerminated(lifecycle, this.#options.clock.now());
        for (const done of lifecycle.completed.splice(0)) done();
        worker.pending ??= work;
        return;
      case 'terminated':
      case 'finished':
        this.#finish(worker);
        return;
      default:
        lifecycle satisfies never;
    }
  }

  #completeSync(worker: WorkerState, work: PendingWork, outcome: SyncOutcome): void {
    if (outcome.isTerminal) {
      this.#startTermination(worker, work.pod, 'other');
      worker.pending ??= work;
      return;
    }
    if (outcome.error !== undefined) this.#logFailure(worker.ref, outcome.error);
    if (outcome.syncAgain === true) worker.pending ??= work;
    this.#requeue(worker, work, outcome);
  }

  /** Starts the termination of a syncing pod and updates the grace period. */
  #startTermination(worker: WorkerState, pod: Pod | undefined, cause: TerminationCause): void {
    if (worker.lifecycle.kind === 'sync')
      worker.lifecycle = createTerminatingState(this.#options.clock.now(), cause);
    const {lifecycle} = worker;
    lifecycle.gracePeriodSeconds = computeEffectiveGracePeriod(lifecycle.gracePeriodSeconds, pod, undefined);
  }

  #logFailure(ref: PodRef, error: unknown): void {
    const fields = {pod: namespacedName(ref), podUID: ref.uid};
    this.#logger.error(error, 'Error syncing pod, skipping', fields);
  }

  #requeue(worker: WorkerState, work: PendingWork, outcome: Pick<SyncOutcome, 'error' | 'retryAt'>): void {
    if (worker.pending !== undefined) return;
    const {clock, syncFrequencyMs: frequency} = this.#options;
    const context = {now: clock.now(), syncFrequencyMs: frequency.current, random: this.#random()};
    const delayMs = computeRequeueDelay(outcome, context);
    this.#queue.add(worker.ref.uid, clock.monotonic() + delayMs);
    // takeDue uses it to wake a terminating worker, since the sync loop only syncs desired pods.
    if (worker.lifecycle.kind !== 'sync') worker.active = work;
  }

  #finish(worker: WorkerState): void {
    const {lifecycle} = worker;
    worker.pending = undefined;
    if (lifecycle.kind !== 'sync') worker.lifecycle = toFinished(lifecycle);
    if (lifecycle.kind === 'terminating') for (const done of lifecycle.completed.splice(0)) done();
    this.#queue.delete(worker.ref.uid);
    const next = this.#turns.release(podFullName(worker.ref), worker.ref.uid);
    const waiting = next === undefined ? undefined : this.#workers.get(next);
    if (waiting !== undefined) this.#wake(waiting);
    this.#options.onFinished?.(worker.ref.uid, isEvicted(lifecycle));
  }

  #random(): number {
    return this.#options.random() / RANDOM_RANGE;
  }

  /** Returns the pods that are due for a sync. Wakes the due workers of terminating pods itself. */
  takeDue(): readonly PodUid[] {
    const due: PodUid[] = [];
    for (const uid of this.#queue.takeDue(this.#options.clock.monotonic())) {
      const worker = this.#workers.get(uid);
      if (worker === undefined) continue;
      if (worker.lifecycle.kind === 'sync') due.push(uid);
      else {
        worker.pending ??= worker.active;
        this.#wake(worker);
      }
    }
    return due;
  }

  /**
   * Removes finished workers of pods that are not desired or were created again, and terminates the other pods that are
   * not desired (SyncKnownPods).
   */
  syncKnownPods(desired: ReadonlySet<PodUid>): void {
    this.#synced = true;
    for (const [uid, worker] of this.#workers) {
      const isOrphan = !desired.has(uid);
      if (worker.lifecycle.kind === 'finished') {
        if (isOrphan || worker.lifecycle.restartRequested) this.#workers.delete(uid);
      } else if (isOrphan && worker.startedAt === undefined) {
        this.#finish(worker);
        this.#workers.delete(uid);
      } else if (isOrphan) this.#terminateOrphan(worker);
    }
  }

  #terminateOrphan(worker: WorkerState): void {
    if (worker.lifecycle.kind !== 'sync') {
      if (worker.lifecycle.cause === 'other') worker.lifecycle.cause = 'deleted';
      return;
    }
    const work = worker.pending ?? worker.active;
    this.#startTermination(worker, work?.pod, 'deleted');
    worker.pending = work;
    cancelWork(worker);
    this.#wake(worker);
  }

  /** Returns a summary of each worker, for metrics. */
  list(): readonly WorkerSummary[] {
    return [...this.#workers].map(([uid, worker]) => ({
      uid,
      lifecycle: workKind(worker.lifecycle),
      pod: worker.pending?.pod ?? worker.active?.pod,
    }));
  }

  isKnown(uid: PodUid): boolean {
    return this.#workers.has(uid);
  }

  /** Reports whether the pod has started and is not being stopped. */
  isSyncing(uid: PodUid): boolean {
    const worker = this.#workers.get(uid);
    return worker?.startedAt !== undefined && worker.lifecycle.kind === 'sync';
  }

  isTerminationRequested(uid: PodUid): boolean {
    const worker = this.#workers.get(uid);
    return worker !== undefined && worker.lifecycle.kind !== 'sync';
  }

  /** Reports whether all containers of the pod have terminated (CouldHaveRunningContainers is false). */
  isTerminated(uid: PodUid): boolean {
    const worker = this.#workers.get(uid);
    return worker !== undefined && isTerminated(worker.lifecycle);
  }

  /** Reports whether nothing of the pod is left to stop or release. */
  isFinished(uid: PodUid): boolean {
    return this.#workers.get(uid)?.lifecycle.kind === 'finished';
  }

  /** Reports whether containers of the pod may run; true for an unknown pod before the first housekeeping. */
  couldHaveRunningContainers(uid: PodUid): boolean {
    const worker = this.#workers.get(uid);
    return worker === undefined
      ? !this.#synced
      : worker.startedAt !== undefined && !isTerminated(worker.lifecycle);
  }

  /** Reports whether the dead containers and sandboxes of the pod may be removed (ShouldPodContentBeRemoved). */
  shouldContentBeRemoved(uid: PodUid): boolean {
    const worker = this.#workers.get(uid);
    return worker === undefined ? this.#synced : shouldContentBeRemoved(worker.lifecycle);
  }

  /** Returns a report of the pod's worker; undefined when it has none. */
  report(uid: PodUid): WorkerReport | undefined {
    const worker = this.#workers.get(uid);
    if (worker === undefined) return undefined;
    const {lifecycle, lastSyncTime, lastError: error, waitsFor} = worker;
    const dueAt = this.#queue.dueAt(uid);
    const {terminatingAt, gracePeriodSeconds} =
      lifecycle.kind === 'sync' ? {terminatingAt: undefined, gracePeriodSeconds: 0} : lifecycle;
    return {
      kind: lifecycle.kind,
      isWorking: worker.activity.kind === 'running',
      waitsFor,
      terminatingAt,
      gracePeriodSeconds,
      lastSyncAt: lastSyncTime > 0 ? lastSyncTime : undefined,
      error,
      nextSyncAt: dueAt === undefined ? undefined : timestampOf(this.#options.clock, dueAt),
    };
  }

  /** Interrupts the work in progress, starts no other work, and resolves when all work has stopped. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const worker of this.#workers.values()) cancelWork(worker);
    await this.idle();
  }

  /** Resolves when no worker is at work. */
  async idle(): Promise<void> {
    if (this.#isIdle()) return;
    await new Promise<void>((resolve) => {
      this.#onIdle.push(resolve);
    });
  }

  #isIdle(): boolean {
    return [...this.#workers.values()].every(({activity}) => activity.kind === 'idle');
  }
}

function cancelWork({activity}: WorkerState): void {
  if (activity.kind === 'running') activity.cancel?.abort();
}
