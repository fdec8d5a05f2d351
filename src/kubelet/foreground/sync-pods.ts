import {pause} from '../../base/async/pause.js';
import type {Pod} from '../../api/types/v1-pod.js';
import {hasEnded, type PodStatus} from '../../api/types/v1-status.js';
import {anySignal} from '../../base/async/any-signal.js';
import {createDeadline} from '../../base/async/deadline.js';
import {abortable} from '../../base/async/abortable.js';
import {systemRandom, type Clock, type RandomSource} from '../../base/clock.js';
import type {Lock} from '../../base/fs/lock.js';
import {CriError, type RuntimeService} from '../../cri/index.js';
import {podRef, type PodRef} from '../contract/pod-ref.js';
import {createCallError, PodError, PodRejectedError, SupersededError} from '../pods/pod-errors.js';
import type {LocalServices} from '../managers/network/local-services.js';
import type {AdoptedPod, PodRegistry} from '../pods/registry/pod-registry.js';
import {markPodRun} from '../pods/registry/pod-runs.js';
import {requireNotSuperseded} from '../pods/registry/pod-ownership.js';
import type {WaitFor} from './evaluate-wait.js';
import {PodWait, type FinalWaitResult} from './pod-wait.js';
import type {
  FailedSync,
  ForegroundSyncResult,
  InterruptedSync,
  SyncRequest,
  TimedOutSync,
} from './foreground-sync-result.js';
import {syncJob, type JobRequest, type SyncJobOptions} from './sync-job.js';
import {SyncSession} from './sync-session.js';

/**
 * Interval at which the record of a pod is checked, because another kcri process that takes over the pod does not
 * notify this one.
 */
const OWNERSHIP_CHECK_MS = 1000;

/** Options of a sync. */
export interface SyncPodsOptions {
  readonly runtime: RuntimeService;
  readonly wait: WaitFor;
  /**
   * Time limit in ms. Until then failures are retried with the kubelet's back-off; without a limit the first failure is
   * final.
   */
  readonly timeoutMs: number | undefined;
  /** Time that a container without a readiness or startup probe must run before it counts as ready, in ms; 0 by default. */
  readonly minReadyMs?: number | undefined;
  /** True to delete existing pods of the same names first, even if they are unchanged. */
  readonly replace?: boolean | undefined;
  /** Called with each status of a pod that differs from the previous one. */
  readonly onStatus: (pod: PodRef, status: PodStatus) => void;
  /** Called when the result of a pod is known. */
  readonly onResult?: (result: ForegroundSyncResult) => void;
  /** Services that may select the pods. */
  readonly services?: LocalServices | undefined;
  readonly clock: Clock;
  /** Source of the jitter of periods. */
  readonly random?: RandomSource;
}

/** Pods that start one after the other, each when the one before is ready. */
export interface OrderedRequests {
  readonly ordered: readonly SyncRequest[];
}

/**
 * Syncs pods until each one meets the wait condition or can no longer meet it, or the signal aborts. Resolves with one
 * result per pod, in the order of the requests; errors of a pod are part of its result. A new pod that cannot be
 * started is removed again, unless it crashed and its logs are useful. A Job runs until it has completed or failed.
 */
export async function syncPods(
  registry: PodRegistry,
  requests: readonly (SyncRequest | OrderedRequests | JobRequest)[],
  options: SyncPodsOptions,
  signal: AbortSignal,
): Promise<readonly ForegroundSyncResult[]> {
  const {runtime, clock, random = systemRandom, timeoutMs, services} = options;
  const session = new SyncSession({registry, runtime, clock, random, retry: timeoutMs !== undefined});
  const deadline = timeoutMs === undefined ? undefined : clock.monotonic() + timeoutMs;
  const syncOne: SyncOne = async (request, changes = {}, stop = signal) => {
    const left = deadline === undefined ? undefined : Math.max(0, deadline - clock.monotonic());
    const full = observeServices(request, {...options, ...changes, timeoutMs: left});
    const result = await new PodSync({registry, session, request, options: full}).run(stop);
    if (result.kind === 'failed' && result.removed) services?.remove(result.pod.uid);
    else services?.settle(result.pod.uid);
    options.onResult?.(result);
    return result;
  };
  for (const pod of firstPods(requests)) services?.add(pod, {isAwaited: true});
  return await session.run(async () => {
    const results = await Promise.all(
      requests.map(async (request) => {
        if ('job' in request) return await syncJobPods(registry, request, {options, syncOne}, signal);
        if ('ordered' in request) return await syncInOrder(request.ordered, syncOne);
        return [await syncOne(request)];
      }),
    );
    return results.flat();
  });
}

/** Returns the pods that start at once; those of Jobs are known when they start. */
function firstPods(requests: readonly (SyncRequest | OrderedRequests | JobRequest)[]): readonly Pod[] {
  return requests.flatMap((request) => {
    if ('job' in request) return [];
    const first = 'ordered' in request ? request.ordered[0] : request;
    return first === undefined ? [] : [first.pod];
  });
}

/** Returns the options of the sync of a pod that Services may select. */
function observeServices({pod}: SyncRequest, options: SyncPodsOptions): SyncPodsOptions {
  const {services, onStatus} = options;
  if (services === undefined) return options;
  services.add(pod);
  const notify: SyncPodsOptions['onStatus'] = (ref, status) => {
    services.update(pod, status);
    onStatus(ref, status);
  };
  return {...options, onStatus: notify};
}

type SyncOne = (
  request: SyncRequest,
  changes?: Partial<SyncPodsOptions>,
  signal?: AbortSignal,
) => Promise<ForegroundSyncResult>;

/** Syncs pods one after the other; those after one that fails are not started. */
async function syncInOrder(
  requests: readonly SyncRequest[],
  syncOne: SyncOne,
): Promise<readonly ForegroundSyncResult[]> {
  const results: ForegroundSyncResult[] = [];
  for (const request of requests) {
    const result = await syncOne(request);
    results.push(result);
    if (result.kind !== 'ready' && result.kind !== 'complete') break;
  }
  return results;
}

async function syncJobPods(
  registry: PodRegistry,
  request: JobRequest,
  {options, syncOne}: {readonly options: SyncPodsOptions; readonly syncOne: SyncOne},
  signal: AbortSignal,
): Promise<readonly ForegroundSyncResult[]> {
  const {clock, onStatus} = options;
  const syncPod: SyncJobOptions['syncPod'] = async (one, stop, observe) => {
    const notify: SyncPodsOptions['onStatus'] = (ref, status) => {
      onStatus(ref, status);
      observe(status);
    };
    return await syncOne(one, {wait: 'complete', onStatus: notify}, stop);
  };
  const deletePod: SyncJobOptions['deletePod'] = async (pod) => {
    await registry.locks.withPodLock(pod, undefined, async () => {
      const record = await registry.store.get(pod.uid);
      if (record !== undefined) await registry.remover.deletePod(record);
    });
  };
  const marks: Lock[] = [];
  try {
    const marked: SyncJobOptions['syncPod'] = async (one, stop, observe) => {
      // Until the Job has ended, also between two pods: so others know that it has not.
      marks.push(await markPodRun(registry.node.rootDir, podRef(one.pod).uid));
      return await syncPod(one, stop, observe);
    };
    return await syncJob(request, {clock, syncPod: marked, deletePod}, signal);
  } finally {
    for (const mark of marks) await mark[Symbol.asyncDispose]();
  }
}

interface PodSyncOptions {
  readonly registry: PodRegistry;
  readonly session: SyncSession;
  readonly request: SyncRequest;
  readonly options: SyncPodsOptions;
}

/** The sync of one pod: adopt it, deliver it to the sync loop, wait for the result, release it. */
class PodSync {
  readonly #options: PodSyncOptions;
  readonly #ref: PodRef;
  readonly #wait: PodWait;
  #isNew = false;

  constructor(options: PodSyncOptions) {
    const {wait, timeoutMs, minReadyMs = 0, clock, onStatus} = options.options;
    this.#options = options;
    this.#ref = podRef(options.request.pod);
    const retry = timeoutMs !== undefined;
    this.#wait = new PodWait(options.request.pod, {wait, retry, minReadyMs, clock, onStatus});
  }

  async run(signal: AbortSignal): Promise<ForegroundSyncResult> {
    const {clock, timeoutMs} = this.#options.options;
    using limit = createDeadline(clock, timeoutMs);
    const result = await this.#settle(signal, limit.signal);
    const {lastStatus: status, firstStatus} = this.#wait;
    return {pod: this.#ref, status, hadEnded: !this.#isNew && hasEnded(firstStatus?.phase), ...result};
  }

  async #settle(
    signal: AbortSignal,
    timeout: AbortSignal,
  ): Promise<FinalWaitResult | FailedSync | TimedOutSync | InterruptedSync> {
    const interrupted = (): InterruptedSync => ({kind: 'interrupted', reason: signal.reason});
    try {
      const result = await this.#syncUntilDecided(signal, timeout);
      return signal.aborted ? interrupted() : result;
    } catch (cause) {
      if (signal.aborted) return interrupted();
      const {lastError, endedResult} = this.#wait;
      if (timeout.aborted) return endedResult ?? {kind: 'timeout', error: lastError};
      const error = cause instanceof CriError ? createCallError(this.#ref, cause) : cause;
      return {kind: 'failed', error, ...(await this.#rollBack(error))};
    }
  }

  async #syncUntilDecided(interrupted: AbortSignal, timeout: AbortSignal): Promise<FinalWaitResult> {
    const {session, request, registry} = this.#options;
    using either = anySignal(interrupted, timeout);
    const {signal} = either;
    signal.throwIfAborted();
    const adopted = await registry.locks.withPodLock(
      this.#ref,
      signal,
      async () => await this.#adopt(signal),
    );
    this.#isNew = adopted.before === undefined;
    await using _run = await markPodRun(registry.node.rootDir, this.#ref.uid);
    try {
      await session.add(this.#wait, adopted, request.source);
      const superseded = this.#watchOwnership(interrupted, timeout);
      return await abortable(Promise.race([this.#wait.decision, superseded]), signal);
    } finally {
      await session.release(this.#wait, {refreshStatus: timeout.aborted});
    }
  }

  /** Adopts the pod. Records a rejection by the node, so that commands show the pod. */
  async #adopt(signal: AbortSignal): Promise<AdoptedPod> {
    const {registry, request, options} = this.#options;
    try {
      const adopting = {signal, replace: options.replace};
      const adopted = await registry.adopt(request.pod, request.source, adopting);
      await registry.rejected.deleteByName(this.#ref);
      return adopted;
    } catch (error) {
      // A pod of the same name that exists is not replaced, and remains the one that commands show.
      if (error instanceof PodRejectedError && (await registry.findByName(this.#ref)) === undefined)
        await registry.rejected.put(registry.createRejectedPod(request.pod, request.source, error.rejection));
      throw error;
    }
  }

  /** Rejects with SupersededError when another kcri process has changed or deleted the pod; stops with the signals and the wait. */
  #watchOwnership(...signals: readonly AbortSignal[]): Promise<never> {
    const {registry, request, options} = this.#options;
    const check = async (): Promise<never> => {
      using ending = anySignal(this.#wait.signal, ...signals);
      for (;;) {
        await pause(options.clock, OWNERSHIP_CHECK_MS, ending.signal);
        await requireNotSuperseded(request.pod, registry.store);
      }
    };
    const watch = check();
    watch.catch(() => undefined); // the race may be over
    return watch;
  }

  /** Removes a new pod, unless its containers have run and their logs are of use. */
  async #rollBack(error: unknown): Promise<Pick<FailedSync, 'removed' | 'removalError'>> {
    const {registry} = this.#options;
    const crashed = error instanceof PodError && error.reason === 'CrashLoopBackOff';
    if (!this.#isNew || crashed || error instanceof SupersededError) return {removed: false};
    try {
      await registry.locks.withPodLock(this.#ref, undefined, async () => {
        const record = await registry.store.get(this.#ref.uid);
        if (record !== undefined) await registry.remover.deletePod(record, {gracePeriodSeconds: 0});
      });
      return {removed: true};
    } catch (removalError) {
      return {removed: false, removalError};
    }
  }
}
