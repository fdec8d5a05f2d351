import {onAbort} from '../../base/async/abort-callbacks.js';
import {decideJob, type FinishedJobPod, type JobDecision} from '../../api/workloads/job-progress.js';
import {
  countRestarts,
  describeFinishedPod,
  findRestartFailure,
  JOB_DEADLINE_EXCEEDED,
  type JobFailure,
} from '../../api/workloads/job-pod-status.js';
import type {JobPodPlace} from '../../api/workloads/job-pods.js';
import type {PodStatus} from '../../api/types/v1-status.js';
import type {Job} from '../../api/types/v1-workloads.js';
import {anySignal} from '../../base/async/any-signal.js';
import type {Clock} from '../../base/clock.js';
import {createDeadline} from '../../base/async/deadline.js';
import {podRef, type PodRef} from '../contract/pod-ref.js';
import type {ForegroundSyncResult, SyncRequest} from './foreground-sync-result.js';

/** Job of a sync, whose pods are created as it progresses. */
export interface JobRequest {
  readonly job: Job;
  /** Returns the pod of a place in the Job. */
  readonly createRequest: (place: JobPodPlace) => SyncRequest;
}

/** Dependencies of syncJob. */
export interface SyncJobOptions {
  readonly clock: Clock;
  /** Syncs one pod until it has terminated; `onStatus` receives its statuses. Does not reject. */
  readonly syncPod: (
    request: SyncRequest,
    signal: AbortSignal,
    onStatus: (status: PodStatus) => void,
  ) => Promise<ForegroundSyncResult>;
  /** Deletes a pod that still runs although the Job has ended. */
  readonly deletePod: (pod: PodRef) => Promise<void>;
}

/**
 * Runs a Job in the foreground until it has completed or failed, with the decisions of the Job controller. Finished
 * pods of an earlier sync count. Resolves with one result per pod; those of failed pods that were replaced are marked.
 */
export async function syncJob(
  request: JobRequest,
  options: SyncJobOptions,
  signal: AbortSignal,
): Promise<readonly ForegroundSyncResult[]> {
  return await new JobSync(request, options, signal).run();
}

class JobSync {
  readonly #request: JobRequest;
  readonly #options: SyncJobOptions;
  readonly #signal: AbortSignal;
  readonly #stop = new AbortController();
  readonly #active = new Map<string, {readonly place: JobPodPlace; readonly done: Promise<void>}>();
  readonly #finished: FinishedJobPod[] = [];
  readonly #results: ForegroundSyncResult[] = [];
  readonly #restarts = new Map<string, number>();
  /** Failure that the pods have not caused by terminating. */
  #failure: JobFailure | undefined;
  /** True if a pod could not be synced to its end, so that no further ones are started. */
  #isBroken = false;
  #isDelayed = false;

  constructor(request: JobRequest, options: SyncJobOptions, signal: AbortSignal) {
    this.#request = request;
    this.#options = options;
    this.#signal = signal;
  }

  async run(): Promise<readonly ForegroundSyncResult[]> {
    const {clock} = this.#options;
    const {activeDeadlineSeconds} = this.#request.job.spec;
    const limitMs = activeDeadlineSeconds === undefined ? undefined : activeDeadlineSeconds * 1000;
    using limit = createDeadline(clock, limitMs);
    using either = anySignal(this.#signal, this.#stop.signal);
    onAbort(limit.signal, () => {
      this.#fail(JOB_DEADLINE_EXCEEDED);
    });
    for (;;) {
      const decision = this.#decide();
      if (decision.kind !== 'run') return await this.#end(decision);
      await this.#start(decision, either.signal);
      if (this.#active.size === 0 && (this.#isBroken || decision.places.length === 0)) return this.#results;
      await Promise.race([...this.#active.values()].map(({done}) => done));
    }
  }

  #decide(): JobDecision {
    if (this.#failure !== undefined) return this.#failure;
    const active = [...this.#active.values()].map(({place}) => place);
    const decision = decideJob(this.#request.job, {active, finished: this.#finished});
    if (decision.kind === 'run' && (this.#isBroken || this.#signal.aborted)) return {...decision, places: []};
    return decision;
  }

  async #start({places, delayMs}: Extract<JobDecision, {kind: 'run'}>, signal: AbortSignal): Promise<void> {
    if (places.length > 0 && delayMs > 0 && this.#isDelayed)
      await this.#options.clock.sleep(delayMs, signal).catch(() => undefined);
    if (signal.aborted) return;
    for (const place of places) {
      const key = `${place.index}/${place.attempt}`;
      const done = this.#runPod(place, signal).finally(() => this.#active.delete(key));
      this.#active.set(key, {place, done});
    }
  }

  async #runPod(place: JobPodPlace, signal: AbortSignal): Promise<void> {
    const request = this.#request.createRequest(place);
    const {uid} = podRef(request.pod);
    const result = await this.#options.syncPod(request, signal, (status) => {
      this.#countRestarts(uid, status);
    });
    this.#results.push(result);
    if (result.kind !== 'complete') {
      this.#isBroken = true;
      return;
    }
    // Failures of an earlier sync need no delay.
    this.#isDelayed = !result.hadEnded;
    this.#finished.push(describeFinishedPod(place, result.status ?? {}, result.exitCode === 0));
  }

  /** Fails the Job when the containers of its pods have restarted too often (pastBackoffLimitOnFailure). */
  #countRestarts(uid: string, status: PodStatus): void {
    this.#restarts.set(uid, countRestarts(status));
    const restarts = [...this.#restarts.values()].reduce((sum, count) => sum + count, 0);
    const failure = findRestartFailure(this.#request.job, restarts);
    if (failure !== undefined) this.#fail(failure);
  }

  #fail(failure: JobFailure): void {
    this.#failure ??= failure;
    this.#stop.abort();
  }

  /** Ends the Job: deletes the pods that still run and marks the failures that do not count. */
  async #end(decision: Exclude<JobDecision, {kind: 'run'}>): Promise<readonly ForegroundSyncResult[]> {
    this.#stop.abort();
    await Promise.all([...this.#active.values()].map(({done}) => done));
    const isStopped = ({kind}: ForegroundSyncResult): boolean =>
      kind === 'interrupted' && !this.#signal.aborted;
    await Promise.all(this.#results.filter(isStopped).map(({pod}) => this.#options.deletePod(pod)));
    if (decision.kind === 'complete')
      return this.#results.map((result) =>
        isStopped(result) || (result.kind === 'complete' && result.exitCode !== 0)
          ? {...result, isRetried: true}
          : result,
      );
    return this.#describeFailure(decision, isStopped);
  }

  /** Adds the reason of the failure to the last failed pod; the others are only part of it. */
  #describeFailure(
    {reason, message}: JobFailure,
    isStopped: (result: ForegroundSyncResult) => boolean,
  ): readonly ForegroundSyncResult[] {
    const {namespace = 'default', name = ''} = this.#request.job.metadata;
    const problem = `Job ${namespace}/${name} has failed: ${reason}: ${message}`;
    const isFailed = (result: ForegroundSyncResult): boolean =>
      isStopped(result) || (result.kind === 'complete' && result.exitCode !== 0);
    const last =
      this.#results.findLast((result) => result.kind === 'complete' && isFailed(result)) ??
      this.#results.findLast(isFailed);
    return this.#results.map((result): ForegroundSyncResult => {
      if (!isFailed(result)) return result;
      if (result !== last) return {...result, isRetried: true};
      const {exitCode, container} = result.kind === 'complete' ? result : {exitCode: 1, container: undefined};
      const {pod, status, hadEnded} = result;
      return {pod, status, hadEnded, kind: 'complete', exitCode, container, problem};
    });
  }
}
