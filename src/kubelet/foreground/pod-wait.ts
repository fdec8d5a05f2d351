import {isDeepStrictEqual} from 'node:util';
import type {Pod} from '../../api/types/v1-pod.js';
import {hasEnded, type PodStatus} from '../../api/types/v1-status.js';
import type {Clock} from '../../base/clock.js';
import {CriError} from '../../cri/index.js';
import {podRef, type PodRef} from '../contract/pod-ref.js';
import {failuresOf} from '../contract/sync-result.js';
import {createSyncError} from '../pods/pod-errors.js';
import type {SyncPass} from '../pods/sync/pod-syncer.js';
import {evaluateWait, type WaitFor, type WaitResult} from './evaluate-wait.js';
import {StartupTracker} from './startup-tracker.js';

/** A result that ends the wait without an error of the sync itself. */
export type FinalWaitResult = Exclude<WaitResult, {kind: 'wait' | 'starting' | 'failed'}>;

/** Options of a wait. */
export interface PodWaitOptions {
  readonly wait: WaitFor;
  /** True if failures are retried because there is a time limit. */
  readonly retry: boolean;
  /** Time that a container without a readiness or startup probe must run before it counts as ready, in ms. */
  readonly minReadyMs: number;
  readonly clock: Pick<Clock, 'now'>;
  readonly onStatus: (pod: PodRef, status: PodStatus) => void;
}

/** End condition of one pod of `kcri sync`, which observes the completed work of the pod's worker. */
export class PodWait {
  readonly pod: Pod;
  readonly ref: PodRef;
  readonly #options: PodWaitOptions;
  readonly #startup: StartupTracker;
  readonly #stop = new AbortController();
  #decide:
    | {readonly resolve: (result: FinalWaitResult) => void; readonly reject: (error: unknown) => void}
    | undefined;
  /** Promise of the result of the wait. Rejects with the error that fails the sync. */
  readonly decision: Promise<FinalWaitResult>;
  #isDecided = false;
  /** Result of a terminated pod, held back until its sandbox is stopped. */
  #ended: FinalWaitResult | undefined;
  /** Error of the last sync, held back until the status that shows it is known. */
  #failure: unknown;
  #work: Promise<unknown> = Promise.resolve();
  firstStatus: PodStatus | undefined;
  lastStatus: PodStatus | undefined;
  lastError: unknown;

  constructor(pod: Pod, options: PodWaitOptions) {
    this.pod = pod;
    this.ref = podRef(pod);
    this.#options = options;
    this.#startup = new StartupTracker(options.minReadyMs);
    this.decision = new Promise((resolve, reject) => {
      this.#decide = {resolve, reject};
    });
    this.decision.catch(() => undefined); // may reject before it is awaited
  }

  /** Aborts when the pod is released, which cancels the calls of the work in progress. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Result of a terminated pod whose sandbox is still to be stopped. */
  get endedResult(): FinalWaitResult | undefined {
    return this.#ended;
  }

  /**
   * Runs a unit of work after the previous one has ended. Resolves with the value that the work passes to `done`, while
   * its end may still be awaited by the next unit and by `release`. Rejects if the work rejects before that.
   */
  async run<T>(work: (done: (value: T) => void) => Promise<void>): Promise<T> {
    return await new Promise<T>((resolve, reject) => {
      this.#work = this.#work.then(async () => work(resolve)).catch(reject);
    });
  }

  /** Ends the wait: aborts the work in progress and resolves when it has stopped. */
  async release(): Promise<void> {
    this.#isDecided = true;
    this.#stop.abort();
    await this.#work;
  }

  /** Reports whether a pod with this status needs no sync to meet the wait condition, or can no longer meet it. */
  isMet(status: PodStatus): boolean {
    const {kind} = this.#evaluate({status, results: []});
    return kind !== 'wait' && kind !== 'starting';
  }

  #evaluate(pass: Pick<SyncPass, 'status' | 'results'>): WaitResult {
    const startingMs = this.#startup.observe(this.pod, pass.status, this.#options.clock.now());
    return evaluateWait(this.pod, pass, {...this.#options, startingMs});
  }

  /** Reports a status of the pod if it changed. */
  observeStatus(status: PodStatus): void {
    if (this.#isDecided || isDeepStrictEqual(status, this.lastStatus)) return;
    this.firstStatus ??= status;
    this.lastStatus = status;
    this.#options.onStatus(this.ref, status);
  }

  /** Evaluates a completed sync. Returns the time after which another sync is due, in ms, if none is due before. */
  observeSync(pass: Pick<SyncPass, 'status' | 'results'>): number | undefined {
    const [failure] = failuresOf(pass.results);
    this.lastError = failure === undefined ? undefined : createSyncError(this.ref, failure);
    const result = this.#evaluate(pass);
    if (result.kind === 'starting') return result.remainingMs;
    if (result.kind === 'wait') return undefined;
    if (result.kind === 'failed') this.#failure = createSyncError(this.ref, result.result);
    else if (hasEnded(pass.status.phase)) this.#ended = result;
    else this.#resolve(result);
    return undefined;
  }

  /** True if the last sync has failed for good, so that `fail` is to be called. */
  get hasFailed(): boolean {
    return this.#failure !== undefined && !this.#isDecided;
  }

  /** Ends the wait with the error of the last sync. `status` shows the reason, if it could be read. */
  fail(status: PodStatus | undefined): void {
    if (status !== undefined) this.observeStatus(status);
    this.#fail(this.#failure);
  }

  /** Evaluates an error from outside the units of work. The result of a unit in progress takes precedence. */
  async observeBackgroundError(error: unknown): Promise<void> {
    await this.#work;
    this.observeError(error);
  }

  /** Evaluates the status of a pod that was stopped for good. */
  observeTermination(status: PodStatus | undefined): void {
    if (status === undefined) return;
    this.observeStatus(status);
    this.observeSync({status, results: []});
    if (this.#ended !== undefined) this.#resolve(this.#ended);
  }

  /** Evaluates an error of a unit of work. It is final unless it is a runtime error and failures are retried. */
  observeError(error: unknown): void {
    if (this.#isDecided) return;
    if (this.#ended !== undefined && !this.#options.retry) this.#resolve(this.#ended);
    else if (this.#options.retry && error instanceof CriError) this.lastError = error;
    else this.#fail(error);
  }

  #resolve(result: FinalWaitResult): void {
    this.#isDecided = true;
    this.#decide?.resolve(result);
  }

  #fail(error: unknown): void {
    this.#isDecided = true;
    this.#decide?.reject(error);
  }
}
