import type {Pod} from '../../api/v1.js';
import type {PodStatus} from '../../api/v1-status.js';
import type {Clock} from '../../base/clock.js';
import {CriError, isUnavailable} from '../../cri/index.js';
import {podRef, type PodRef} from '../container/pod-ref.js';
import {failuresOf} from '../container/sync-result.js';
import type {LocalPods} from '../local-pods.js';
import {PodError, podErrorOf, podErrorOfCall, SupersededError} from '../pod-error.js';
import type {PodSyncer, SyncPass} from '../pod-syncer.js';
import {judge, type Verdict, type WaitFor} from './judge.js';
import {timeLimit} from '../../base/time-limit.js';
import {deadlineOf} from '../status/deadline.js';

/** How often a pod is looked at while it is waited for. */
const POLL_MS = 250;
/** A pod worker's wait after a failure that says no time itself (pod_workers.go backOffPeriod). */
const SYNC_ERROR_BACKOFF_MS = 10_000;

/** A pod to sync and where it comes from. */
export interface SyncRequest {
  readonly pod: Pod;
  /** The manifest's file, or `-`. */
  readonly source: string;
}

/** What is waited for, and for how long. */
export interface SyncPodsOptions {
  readonly wait: WaitFor;
  /** Failures are retried with the kubelet's back-off until then; without a limit the first one ends the sync. */
  readonly timeoutMs: number | undefined;
  /** Called after every pass in which something changed. */
  readonly onStatus: (pod: PodRef, status: PodStatus) => void;
  readonly clock: Clock;
}

type FinalVerdict = Exclude<Verdict, {kind: 'wait'} | {kind: 'failed'}>;

/** A sync that could not go on, and what became of the pod. */
export interface FailedSync {
  readonly kind: 'failed';
  readonly error: unknown;
  /** The pod is gone again. */
  readonly removed: boolean;
  /** Why it could not be removed although it should have been. */
  readonly removalError?: unknown;
}

/** A sync whose time is up. */
export interface TimedOutSync {
  readonly kind: 'timeout';
  /** What was seen last. */
  readonly status: PodStatus | undefined;
  /** What went wrong at the last try, when something did. */
  readonly error: unknown;
}

/** The caller's signal was aborted; what runs goes on running. */
export interface InterruptedSync {
  readonly kind: 'interrupted';
  readonly reason: unknown;
}

/** How the sync of one pod ended. */
export type PodOutcome = {readonly pod: PodRef} & (
  FinalVerdict | FailedSync | TimedOutSync | InterruptedSync
);

/**
 * Syncs one pod in the foreground until it is what is waited for, or can't be, or the signal aborts: never
 * rejects. A new pod that can't be started is removed again; one that crashes is left for a look at its logs.
 */
export async function syncPodUntil(
  pods: LocalPods,
  request: SyncRequest,
  options: SyncPodsOptions,
  signal: AbortSignal,
): Promise<PodOutcome> {
  using limit = timeLimit(options.clock, options.timeoutMs);
  const run = new ForegroundSync(pods, request, options);
  const pod = podRef(request.pod);
  try {
    const verdict = await run.toTheEnd(AbortSignal.any([signal, limit.signal]));
    return signal.aborted ? {pod, ...interrupted(signal)} : {pod, ...verdict};
  } catch (cause) {
    if (signal.aborted) return {pod, ...interrupted(signal)};
    const error = cause instanceof CriError ? podErrorOfCall(pod, cause) : cause;
    if (limit.signal.aborted) return {pod, kind: 'timeout', status: run.lastStatus, error: run.lastError};
    return {pod, kind: 'failed', error, ...(await run.rollBack(error))};
  } finally {
    run.close();
  }
}

/**
 * When a worker would sync the pod again after a failure: at the end of the earliest back-off, else after its own
 * (pod_workers.go completeWork). At once when something was done too, since PLEG would tell of it, and when the
 * runtime was only away.
 */
function retryTime({results}: SyncPass, now: number): number {
  const failures = failuresOf(results).map(({failure}) => failure);
  if (failures.length < results.length || failures.every(({cause}) => isUnavailable(cause))) return 0;
  const backoffs = failures.map(({retryAt}) => retryAt).filter((time) => time !== undefined);
  return backoffs.length === 0 ? now + SYNC_ERROR_BACKOFF_MS : Math.min(...backoffs);
}

function interrupted(signal: AbortSignal): InterruptedSync {
  return {kind: 'interrupted', reason: signal.reason};
}

class ForegroundSync {
  readonly #pods: LocalPods;
  readonly #request: SyncRequest;
  readonly #options: SyncPodsOptions;
  readonly #deafen: (() => void) | undefined;
  #isNew = false;
  #last: SyncPass | undefined;
  /** Until then a failed pass is only followed by another one when something has changed. */
  #retryAt = 0;
  lastStatus: PodStatus | undefined;
  lastError: unknown;

  constructor(pods: LocalPods, request: SyncRequest, options: SyncPodsOptions) {
    this.#pods = pods;
    this.#request = request;
    this.#options = options;
    // What a probe finds is acted on at once.
    this.#deafen = pods.probes?.listen(({uid}) => {
      if (uid === this.#ref.uid) this.#retryAt = 0;
    });
  }

  get #ref(): PodRef {
    return podRef(this.#request.pod);
  }

  get #retry(): boolean {
    return this.#options.timeoutMs !== undefined;
  }

  /** With the sync its pod's probes end. */
  close(): void {
    this.#deafen?.();
    this.#pods.probes?.abandon(this.#ref.uid);
  }

  async toTheEnd(signal: AbortSignal): Promise<FinalVerdict> {
    const {pod} = this.#request;
    const {wait, clock} = this.#options;
    const syncer = await this.#adopt(signal);
    for (;;) {
      const pass = await this.#pass(syncer, signal);
      const verdict = pass === undefined ? undefined : judge(pod, pass, {wait, retry: this.#retry});
      if (verdict?.kind === 'failed') throw podErrorOf(this.#ref, verdict.result);
      // The pass that sees the end of a pod comes before the one that stops its sandbox.
      if (verdict?.kind === 'complete') await this.#pass(syncer, signal);
      if (verdict !== undefined && verdict.kind !== 'wait') return verdict;
      await clock.sleep(POLL_MS, signal);
    }
  }

  async #adopt(signal: AbortSignal): Promise<PodSyncer> {
    const {pod, source} = this.#request;
    const {record, before} = await this.#pods.exclusively(
      this.#ref,
      signal,
      async () => await this.#pods.adopt(pod, source, signal),
    );
    this.#isNew = before === undefined;
    const syncer = this.#pods.syncer(before ?? pod, record.place);
    syncer.pod = pod;
    return syncer;
  }

  /** Undefined when the runtime is away and may come back in time. */
  async #pass(syncer: PodSyncer, signal: AbortSignal): Promise<SyncPass | undefined> {
    try {
      const pass = await this.#pods.exclusively(this.#ref, signal, async () => {
        await this.#pods.requireOwn(this.#request.pod);
        return (await this.#unchanged(syncer, signal)) ?? (await this.#sync(syncer, signal));
      });
      this.#remember(pass);
      return pass;
    } catch (error) {
      if (!this.#retry || !isUnavailable(error)) throw error;
      this.lastError = error;
      return undefined;
    }
  }

  /** The last pass while its failure need not be tried again and nothing else has happened, as PLEG would tell. */
  async #unchanged(syncer: PodSyncer, signal: AbortSignal): Promise<SyncPass | undefined> {
    if (this.#options.clock.now() >= this.#retryAt) return undefined;
    const {status} = await syncer.observe(signal);
    return JSON.stringify(status) === JSON.stringify(this.#last?.status) ? this.#last : undefined;
  }

  async #sync(syncer: PodSyncer, signal: AbortSignal): Promise<SyncPass> {
    this.#last = await syncer.sync(signal);
    const retryAt = retryTime(this.#last, this.#options.clock.now());
    this.#retryAt = Math.min(retryAt, deadlineOf(this.#request.pod, this.#last.status));
    return this.#last;
  }

  #remember({status, results}: SyncPass): void {
    if (JSON.stringify(status) !== JSON.stringify(this.lastStatus)) this.#options.onStatus(this.#ref, status);
    this.lastStatus = status;
    const [failure] = failuresOf(results);
    this.lastError = failure === undefined ? undefined : podErrorOf(this.#ref, failure);
  }

  /** Removes what this sync made, unless its containers have run and their logs are wanted. */
  async rollBack(error: unknown): Promise<Pick<FailedSync, 'removed' | 'removalError'>> {
    const crashed = error instanceof PodError && error.reason === 'CrashLoopBackOff';
    if (!this.#isNew || crashed || error instanceof SupersededError) return {removed: false};
    try {
      await this.#pods.exclusively(this.#ref, undefined, async () => {
        const record = await this.#pods.store.get(this.#ref.uid);
        if (record !== undefined) await this.#pods.end(record, {gracePeriodSeconds: 0});
      });
      return {removed: true};
    } catch (removalError) {
      return {removed: false, removalError};
    }
  }
}
