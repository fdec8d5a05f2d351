import type {Pod} from '../../api/v1.js';
import type {PodStatus} from '../../api/v1-status.js';
import type {Clock} from '../../base/clock.js';
import {podRef, type PodRef} from '../container/pod-ref.js';
import type {LocalPods} from '../local-pods.js';
import {PodError, podErrorOf} from '../pod-error.js';
import type {PodSyncer, SyncPass} from '../pod-syncer.js';
import {judge, type Verdict, type WaitFor} from './judge.js';

/** How often a pod is looked at while it is waited for. */
const POLL_MS = 250;

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

/** How the sync of one pod ended. */
export type PodOutcome = {readonly pod: PodRef} & (
  | FinalVerdict
  | {readonly kind: 'failed'; readonly error: unknown; readonly removed: boolean}
  | {readonly kind: 'timeout'; readonly status: PodStatus | undefined}
);

/**
 * Syncs one pod in the foreground until it is what is waited for, or can't be. A new pod that can't be started
 * is removed again; one that crashes is left for a look at its logs. Rejects with the signal's reason when it
 * aborts; what runs then goes on running.
 */
export async function syncPodUntil(
  pods: LocalPods,
  request: SyncRequest,
  options: SyncPodsOptions,
  signal: AbortSignal,
): Promise<PodOutcome> {
  const limit = options.timeoutMs === undefined ? undefined : AbortSignal.timeout(options.timeoutMs);
  const run = new ForegroundSync(pods, request, options);
  const pod = podRef(request.pod);
  try {
    return {pod, ...(await run.toTheEnd(limit === undefined ? signal : AbortSignal.any([signal, limit])))};
  } catch (error) {
    signal.throwIfAborted();
    if (limit?.aborted === true) return {pod, kind: 'timeout', status: run.lastStatus};
    return {pod, kind: 'failed', error, removed: await run.rollBack(error)};
  }
}

class ForegroundSync {
  readonly #pods: LocalPods;
  readonly #request: SyncRequest;
  readonly #options: SyncPodsOptions;
  #isNew = false;
  lastStatus: PodStatus | undefined;

  constructor(pods: LocalPods, request: SyncRequest, options: SyncPodsOptions) {
    this.#pods = pods;
    this.#request = request;
    this.#options = options;
  }

  get #ref(): PodRef {
    return podRef(this.#request.pod);
  }

  async toTheEnd(signal: AbortSignal): Promise<FinalVerdict> {
    const {pod, source} = this.#request;
    const {wait, timeoutMs, clock} = this.#options;
    const {record, isNew} = await this.#pods.exclusively(
      this.#ref,
      signal,
      async () => await this.#pods.adopt(pod, source),
    );
    this.#isNew = isNew;
    const syncer = this.#pods.syncer(pod, record.place);
    for (;;) {
      const pass = await this.#pass(syncer, signal);
      const verdict = judge(pod, pass, {wait, retry: timeoutMs !== undefined});
      if (verdict.kind === 'failed') throw podErrorOf(this.#ref, verdict.result);
      // The pass that sees the end of a pod comes before the one that stops its sandbox.
      if (verdict.kind === 'complete') await this.#pass(syncer, signal);
      if (verdict.kind !== 'wait') return verdict;
      await clock.sleep(POLL_MS, signal);
    }
  }

  async #pass(syncer: PodSyncer, signal: AbortSignal): Promise<SyncPass> {
    const pass = await this.#pods.exclusively(this.#ref, signal, async () => await syncer.sync(signal));
    if (JSON.stringify(pass.status) !== JSON.stringify(this.lastStatus))
      this.#options.onStatus(this.#ref, pass.status);
    this.lastStatus = pass.status;
    return pass;
  }

  /** Removes what this sync made, unless its containers have run and their logs are wanted. */
  async rollBack(error: unknown): Promise<boolean> {
    if (!this.#isNew || (error instanceof PodError && error.reason === 'CrashLoopBackOff')) return false;
    await this.#pods.exclusively(this.#ref, undefined, async () => {
      const record = await this.#pods.store.get(this.#ref.uid);
      if (record !== undefined) await this.#pods.end(record, 0);
    });
    return true;
  }
}
