import type {Pod} from '../../api/v1.js';
import type {Clock, RandomSource} from '../../base/clock.js';
import type {Logger} from '../../base/logger.js';
import type {PodUid} from '../../cri/index.js';
import {isStaticPod} from '../config/static-pod.js';
import type {EventSink} from '../container/events.js';
import type {KubeletMetrics} from '../container/kubelet-metrics.js';
import type {PodCache} from '../container/pleg.js';
import {namespacedName, podFullName, podRef, type PodRef} from '../container/pod-ref.js';
import {carryOut, type PodSyncHandler} from './carry-out.js';
import {StaticTurns} from './static-turns.js';
import {
  effectiveGracePeriod,
  endingOf,
  hasEndedBefore,
  jittered,
  newWorker,
  requeueDelay,
  takeKillOptions,
  TURN_WAIT_MS,
  withKnownPod,
  workKind,
  workOf,
  type PendingWork,
  type SyncOutcome,
  type WorkerReport,
  type WorkKind,
  type WorkerState,
  type WorkerUpdate,
} from './worker-state.js';
import {WorkQueue} from './work-queue.js';

/** A pod's worker as others see it. */
export interface WorkerSummary {
  readonly uid: PodUid;
  readonly lifecycle: WorkKind;
  /** Undefined of a pod that only the runtime knows. */
  readonly pod: Pod | undefined;
}

/** What workers need. */
export interface PodWorkersOptions {
  readonly handler: PodSyncHandler;
  readonly cache: PodCache;
  /** The pod with the resources that it was granted; by default all that it asks for. */
  readonly allocated?: (pod: Pod) => Pod;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  readonly events: EventSink;
  /** syncFrequency. */
  readonly syncFrequencyMs: number;
  readonly metrics?: Pick<KubeletMetrics, 'worked'>;
}

const RANDOM_RANGE = 2 ** 32;

/**
 * One worker a pod UID, each doing one thing at a time: sync → terminating → terminated, never back (pod_workers.go).
 * A pod that is wanted again while it ends gets a new worker from housekeeping.
 */
export class PodWorkers {
  readonly #options: PodWorkersOptions;
  readonly #workers = new Map<PodUid, WorkerState>();
  readonly #queue = new WorkQueue();
  readonly #turns = new StaticTurns();
  /** Since the first housekeeping an unknown pod is one that isn't wanted. */
  #synced = false;
  #stopped = false;
  /** Called when no work is under way any more. */
  #onIdle: (() => void) | undefined;

  constructor(options: PodWorkersOptions) {
    this.#options = options;
  }

  /** Takes in what is new about a pod; the work begins at once when none is under way (UpdatePod). */
  update(given: WorkerUpdate): void {
    const {clock, cache} = this.#options;
    const now = clock.now();
    const ref = 'pod' in given ? podRef(given.pod) : given.running;
    const known = this.#workers.get(ref.uid);
    const worker = known ?? newWorker(ref);
    this.#workers.set(ref.uid, worker);
    const update = withKnownPod(given, worker);
    if (known === undefined && hasEndedBefore(update, () => cache.get(ref.uid))) {
      worker.terminatingAt = now;
      worker.terminatedAt = now;
    }
    if (worker.terminatingAt !== undefined && update.type === 'create') {
      worker.restartRequested = true;
      return;
    }
    if (!worker.finished) this.#take(worker, update, now);
    else if (update.type === 'kill') update.kill?.onCompleted?.();
  }

  #take(worker: WorkerState, update: WorkerUpdate, now: number): void {
    const wasTerminating = worker.terminatingAt !== undefined;
    if (!wasTerminating) this.#beginEnd(worker, update);
    const shortened = takeKillOptions(worker, update);
    worker.pending = workOf(update, worker.pending?.requestedAt ?? now);
    if ((!wasTerminating && worker.terminatingAt !== undefined) || shortened) worker.cancel?.abort();
    this.#wake(worker);
  }

  #beginEnd(worker: WorkerState, update: WorkerUpdate): void {
    const ending = endingOf(update);
    if (ending === undefined) return;
    worker.terminatingAt = this.#options.clock.now();
    Object.assign(worker, ending);
  }

  #wake(worker: WorkerState): void {
    if (worker.isRunning || this.#stopped) return;
    worker.isRunning = true;
    void this.#run(worker).finally(() => {
      if (this.#isIdle()) this.#onIdle?.();
    });
  }

  async #run(worker: WorkerState): Promise<void> {
    try {
      while (!this.#stopped && worker.pending !== undefined && this.#mayStart(worker, worker.pending))
        await this.#next(worker, worker.pending);
    } finally {
      // In the same turn in which nothing was found to do: who comes after it wakes the worker.
      worker.isRunning = false;
    }
  }

  async #next(worker: WorkerState, pending: PendingWork): Promise<void> {
    const {allocated = (pod: Pod): Pod => pod} = this.#options;
    const work = pending.pod === undefined ? pending : {...pending, pod: allocated(pending.pod)};
    worker.pending = undefined;
    worker.active = work;
    worker.startedAt ??= this.#options.clock.now();
    worker.observedRuntime ||= work.running !== undefined;
    worker.cancel = new AbortController();
    await this.#work(worker, work, worker.cancel.signal);
    worker.cancel = undefined;
  }

  /** Whether a static pod's turn has come; one that is to end before it began never begins. */
  #mayStart(worker: WorkerState, {pod}: PendingWork): boolean {
    if (worker.startedAt !== undefined || pod === undefined || !isStaticPod(pod)) return true;
    const {uid} = worker.ref;
    if (worker.terminatingAt !== undefined) {
      this.#finish(worker);
      return false;
    }
    worker.waitsFor = undefined;
    if (this.#turns.tryStart(podFullName(worker.ref), uid)) return true;
    worker.waitsFor = 'turn';
    this.#queue.add(uid, this.#options.clock.now() + jittered(TURN_WAIT_MS, this.#random()));
    return false;
  }

  async #work(worker: WorkerState, work: PendingWork, signal: AbortSignal): Promise<void> {
    const kind = workKind(worker);
    try {
      const outcome = await this.#carryOut(worker, work, {kind, signal});
      worker.lastError = outcome.error;
      this.#options.metrics?.worked(work.type, this.#options.clock.now() - work.requestedAt);
      this.#complete(worker, work, kind, outcome);
    } catch (error) {
      worker.lastError = error;
      if (!signal.aborted) this.#logFailure(worker.ref, error);
      this.#requeue(worker, work, {error});
    }
  }

  async #carryOut(
    worker: WorkerState,
    work: PendingWork,
    how: {readonly kind: WorkKind; readonly signal: AbortSignal},
  ): Promise<SyncOutcome> {
    try {
      return await carryOut(this.#options, worker, work, how);
    } finally {
      worker.lastSyncTime = this.#options.clock.now();
    }
  }

  #complete(worker: WorkerState, work: PendingWork, kind: WorkKind, outcome: SyncOutcome): void {
    const {clock} = this.#options;
    if (work.pod === undefined) {
      this.#finish(worker);
      this.#workers.delete(worker.ref.uid);
    } else if (kind === 'terminated') {
      this.#finish(worker);
    } else if (kind === 'terminating') {
      worker.terminatedAt = clock.now();
      for (const done of worker.completed.splice(0)) done();
      worker.pending ??= work;
    } else if (outcome.isTerminal) {
      worker.terminatingAt ??= clock.now();
      worker.gracePeriodSeconds = effectiveGracePeriod(worker.gracePeriodSeconds, work.pod, undefined);
      worker.pending ??= work;
    } else {
      if (outcome.error !== undefined) this.#logFailure(worker.ref, outcome.error);
      if (outcome.again === true) worker.pending ??= work;
      this.#requeue(worker, work, outcome);
    }
  }

  #logFailure(ref: PodRef, error: unknown): void {
    const fields = {pod: namespacedName(ref), podUID: ref.uid};
    this.#options.logger.error(error, 'Error syncing pod, skipping', fields);
  }

  #requeue(worker: WorkerState, work: PendingWork, outcome: Pick<SyncOutcome, 'error' | 'retryAt'>): void {
    if (worker.pending !== undefined) return;
    const {clock, syncFrequencyMs} = this.#options;
    const now = clock.now();
    this.#queue.add(
      worker.ref.uid,
      now + requeueDelay(outcome, {now, syncFrequencyMs, random: this.#random()}),
    );
    // A worker that ends is nobody else's to wake: the sync loop only asks for pods that are wanted.
    if (worker.terminatingAt !== undefined) worker.active = work;
  }

  #finish(worker: WorkerState): void {
    worker.finished = true;
    worker.pending = undefined;
    for (const done of worker.completed.splice(0)) done();
    this.#queue.delete(worker.ref.uid);
    const next = this.#turns.leave(podFullName(worker.ref), worker.ref.uid);
    const waiting = next === undefined ? undefined : this.#workers.get(next);
    if (waiting !== undefined) this.#wake(waiting);
  }

  #random(): number {
    return this.#options.random() / RANDOM_RANGE;
  }

  /** The pods whose time to be synced again has come. Those that are ending go on by themselves. */
  takeDue(): readonly PodUid[] {
    const wanted: PodUid[] = [];
    for (const uid of this.#queue.takeDue(this.#options.clock.now())) {
      const worker = this.#workers.get(uid);
      if (worker === undefined) continue;
      if (worker.terminatingAt === undefined) wanted.push(uid);
      else {
        worker.pending ??= worker.active;
        this.#wake(worker);
      }
    }
    return wanted;
  }

  /**
   * Housekeeping: forgets finished workers of pods that aren't wanted any more or are wanted anew, ends the others
   * that aren't wanted (SyncKnownPods).
   */
  syncKnown(desired: ReadonlySet<PodUid>): void {
    this.#synced = true;
    for (const [uid, worker] of this.#workers) {
      const isOrphan = !desired.has(uid);
      if (worker.finished && (isOrphan || worker.restartRequested)) this.#workers.delete(uid);
      else if (isOrphan && worker.startedAt === undefined && !worker.observedRuntime) {
        this.#finish(worker);
        this.#workers.delete(uid);
      } else if (isOrphan && !worker.finished) this.#endOrphan(worker);
    }
  }

  #endOrphan(worker: WorkerState): void {
    worker.deleted = true;
    if (worker.terminatingAt !== undefined) return;
    const work = worker.pending ?? worker.active;
    worker.terminatingAt = this.#options.clock.now();
    worker.gracePeriodSeconds = effectiveGracePeriod(worker.gracePeriodSeconds, work?.pod, undefined);
    worker.pending = work;
    worker.cancel?.abort();
    this.#wake(worker);
  }

  /** What each worker is at, for who counts them. */
  list(): readonly WorkerSummary[] {
    return [...this.#workers].map(([uid, worker]) => ({
      uid,
      lifecycle: workKind(worker),
      pod: worker.pending?.pod ?? worker.active?.pod,
    }));
  }

  isKnown(uid: PodUid): boolean {
    return this.#workers.has(uid);
  }

  isTerminationRequested(uid: PodUid): boolean {
    return this.#workers.get(uid)?.terminatingAt !== undefined;
  }

  isTerminated(uid: PodUid): boolean {
    return this.#workers.get(uid)?.terminatedAt !== undefined;
  }

  /** Of an unknown pod it can't be told before the first housekeeping. */
  couldHaveRunningContainers(uid: PodUid): boolean {
    const worker = this.#workers.get(uid);
    return worker === undefined
      ? !this.#synced
      : worker.startedAt !== undefined && worker.terminatedAt === undefined;
  }

  /** What the pod left in the runtime may go (ShouldPodContentBeRemoved). */
  shouldContentBeRemoved(uid: PodUid): boolean {
    const worker = this.#workers.get(uid);
    if (worker === undefined) return this.#synced;
    return worker.evicted || (worker.deleted && worker.terminatedAt !== undefined);
  }

  /** How the pod's worker stands, for who looks; undefined when it has none. */
  report(uid: PodUid): WorkerReport | undefined {
    const worker = this.#workers.get(uid);
    if (worker === undefined) return undefined;
    const {lastSyncTime, lastError: error, waitsFor, terminatingAt, gracePeriodSeconds} = worker;
    return {
      kind: worker.finished ? 'finished' : workKind(worker),
      isWorking: worker.isRunning,
      waitsFor,
      terminatingAt,
      gracePeriodSeconds,
      lastSyncAt: lastSyncTime > 0 ? lastSyncTime : undefined,
      error,
      nextSyncAt: this.#queue.dueAt(uid),
    };
  }

  /** Begins no more work, ends the waits of what is under way, and resolves when none is. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const worker of this.#workers.values()) worker.cancel?.abort();
    if (this.#isIdle()) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  #isIdle(): boolean {
    return [...this.#workers.values()].every(({isRunning}) => !isRunning);
  }
}
