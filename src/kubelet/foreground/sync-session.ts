import {onAbort} from '../../base/async/abort-callbacks.js';
import {abortable} from '../../base/async/abortable.js';
import {createDeadline} from '../../base/async/deadline.js';
import type {Clock, RandomSource} from '../../base/clock.js';
import {SystemError} from '../../base/errors.js';
import {SILENT_LOGGER} from '../../base/logger.js';
import type {PodUid, RuntimeService} from '../../cri/index.js';
import type {PodEvent} from '../contract/pod-event.js';
import {podRef} from '../contract/pod-ref.js';
import {createKubeletCore, type KubeletCore, type OrphanedPodRemover} from '../daemon/kubelet-core.js';
import {SyncLoopQueue} from '../daemon/sync-loop-queue.js';
import type {PlegNotice} from '../managers/pleg/pleg-notice.js';
import {PodManager} from '../pods/registry/pod-manager.js';
import type {AdoptedPod, PodRegistry} from '../pods/registry/pod-registry.js';
import {createUnlockedCache, LockedSyncHandler} from './locked-sync-handler.js';
import type {PodWait} from './pod-wait.js';
import {RequestedPods} from './requested-pods.js';

/** Options of a session. */
export interface SyncSessionOptions {
  readonly registry: PodRegistry;
  readonly runtime: RuntimeService;
  readonly clock: Clock;
  readonly random: RandomSource;
  /** True if failures of the runtime are retried. */
  readonly retry: boolean;
}

/** Longest wait for the status of a released pod, in ms. */
const REFRESH_TIMEOUT_MS = 2000;

/** Period of the sync of an idle pod, in ms: the kubelet's default. */
const SYNC_FREQUENCY_MS = 60_000;

/** Name of the command line as a pod source, in logs and annotations. */
const SOURCE = 'api';

/** Empty set of orphaned pods: `kcri sync` manages no pods beyond those of the command line. */
const NO_ORPHANED_PODS: OrphanedPodRemover = {
  isRemoving: () => false,
  waitForRemoval: async () => undefined,
  remove: async () => true,
  release: async () => undefined,
};

/**
 * The kubelet core of one `kcri sync`, with the same PLEG, sync loop, pod workers and probes as the daemon. The command
 * line is its only pod source. Several sessions and a daemon may use one root directory at the same time.
 */
export class SyncSession {
  readonly #options: SyncSessionOptions;
  readonly #queue = new SyncLoopQueue();
  readonly #pods: RequestedPods;
  readonly #core: KubeletCore;
  readonly #waits = new Map<PodUid, PodWait>();
  readonly #end = new AbortController();
  /** Aborts with an error of kcri itself. */
  readonly #failure = new AbortController();
  readonly #relisted: Promise<void>;
  #isStarted = false;
  /** Error of the last relist; undefined if it succeeded. */
  #relistError: unknown;

  constructor(options: SyncSessionOptions) {
    const {registry, runtime, clock, random} = options;
    this.#options = options;
    const waits = this.#waits;
    const pods = new RequestedPods(registry);
    const relists = createFirstRelist(this.#end.signal);
    let needEvents = (): void => undefined;
    const needsEvents = new Promise<void>((resolve) => {
      needEvents = resolve;
    });
    const events = (event: PodEvent): void => {
      pods.getSyncer(podRef(event.pod).uid)?.recordEvent(event);
    };
    this.#pods = pods;
    this.#relisted = relists.done;
    this.#core = createKubeletCore({
      ...{queue: this.#queue, manager: new PodManager(), registry, own: pods, runtime, clock, random, events},
      node: registry.node,
      logger: SILENT_LOGGER,
      createOrphanedPods: () => NO_ORPHANED_PODS,
      wrapHandler: (handler, pleg) => ({
        handler: new LockedSyncHandler({
          ...{handler, registry, pleg, events},
          findWait: (uid) => waits.get(uid),
        }),
        cache: createUnlockedCache(pleg),
      }),
      observer: {
        onStatus: (pod, status) => {
          const wait = waits.get(podRef(pod).uid);
          wait?.observeStatus(status);
          if (wait?.isMet(status) === false) needEvents();
        },
        onSynced: (pod, pass) => {
          const wait = waits.get(podRef(pod).uid);
          const dueMs = wait?.observeSync(pass);
          if (wait !== undefined && dueMs !== undefined)
            this.#core.background.start('readiness check', this.#syncAfter(wait, dueMs));
        },
      },
      syncFrequencyMs: {current: SYNC_FREQUENCY_MS},
      eventedPleg: true,
      // A sync of unchanged pods ends with their first status.
      needsEvents,
      onPlegNotice: (notice) => {
        relists.observe(notice);
        this.#observePleg(notice);
      },
      // A pod is admitted when it is adopted, against all pods of the root directory.
      admission: false,
      // The user wants the logs; `kcri delete` removes the pod.
      removesEvicted: false,
      seenAllSources: () => true,
      // Nobody would see it in a log.
      onInternalError: (error) => {
        this.#failure.abort(error);
      },
      signal: this.#end.signal,
    });
  }

  /** Runs the core during `work` and settles with its result. Rejects with an error of kcri itself in the sync loop. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const parts = this.#start();
    try {
      const done = Promise.race([work(), parts.then(async () => new Promise<never>(() => undefined))]);
      return await abortable(done, this.#failure.signal);
    } finally {
      const stopped = this.#core.workers.stop();
      this.#end.abort();
      await Promise.all([parts, stopped, this.#core.background.idle()]);
    }
  }

  async #start(): Promise<void> {
    const {signal} = this.#end;
    const {runtimeState, pleg, loop, background} = this.#core;
    let onChecked = (): void => undefined;
    const checked = new Promise<void>((resolve) => {
      onChecked = resolve;
    });
    const parts = [runtimeState.run(signal, {onChecked, background}), pleg.run()];
    // The loop would pause if it started before the first runtime check and relist.
    await Promise.all([checked, this.#relisted]);
    this.#isStarted = true;
    for (const wait of this.#waits.values()) this.#failIfRuntimeIsDown(wait);
    await Promise.all([...parts, loop.run(signal)]);
  }

  #observePleg(notice: PlegNotice): void {
    if (notice.kind === 'relisted') this.#relistError = undefined;
    if (notice.kind === 'relist-failed') {
      this.#relistError = notice.error;
      for (const wait of this.#waits.values()) this.#observeError(wait, notice.error);
    }
    const failed = notice.kind === 'inspection-failed' ? this.#waits.get(notice.uid) : undefined;
    if (notice.kind === 'inspection-failed' && failed !== undefined) this.#observeError(failed, notice.error);
  }

  #observeError(wait: PodWait, error: unknown): void {
    this.#core.background.start('wait', wait.observeBackgroundError(error));
  }

  /**
   * Fails the wait if the runtime is not ready and there is no time limit; the sync loop would wait for the runtime.
   */
  #failIfRuntimeIsDown(wait: PodWait): void {
    const [error] = this.#core.handler.errors();
    if (error === undefined || this.#options.retry || !this.#isStarted) return;
    wait.observeError(
      this.#relistError ?? new SystemError(error, {hint: 'use --timeout to wait for the runtime'}),
    );
  }

  /**
   * Delivers an adopted pod to the sync loop. Checks for eviction first, since the sync may finish before housekeeping
   * does.
   */
  async add(wait: PodWait, adopted: AdoptedPod, origin: string): Promise<void> {
    const {pod, ref} = wait;
    this.#waits.set(ref.uid, wait);
    this.#pods.add(pod, adopted);
    await this.#core.evictions.evictIfNeeded(pod);
    this.#queue.config({op: 'ADD', source: SOURCE, pods: [{uid: ref.uid, pod, origin}]});
    this.#failIfRuntimeIsDown(wait);
  }

  /** Syncs a pod again when its containers have run for long enough, unless it is released before. */
  async #syncAfter({pod, signal}: PodWait, ms: number): Promise<void> {
    try {
      await this.#options.clock.sleep(ms, signal);
    } catch {
      return; // released
    }
    this.#core.workers.update({type: 'sync', pod});
  }

  /** Stops the work on a pod and its probes; the pod keeps running. Resolves when no work is in progress. */
  async release(wait: PodWait, {refreshStatus}: {readonly refreshStatus: boolean}): Promise<void> {
    const {pod, ref} = wait;
    this.#waits.delete(ref.uid);
    this.#options.registry.probes?.abandon(ref.uid);
    await wait.release();
    if (refreshStatus) await this.#refreshStatus(ref.uid);
    await this.#core.pods.waitForRemovals(ref.uid);
    this.#pods.release(ref.uid);
    this.#queue.config({op: 'REMOVE', source: SOURCE, pods: [{uid: ref.uid, pod, origin: ''}]});
  }

  /** Stores the status of a pod after the last sync, which shows its back-offs; omitted if the runtime does not respond. */
  async #refreshStatus(uid: PodUid): Promise<void> {
    const {registry, clock} = this.#options;
    using limit = createDeadline(clock, REFRESH_TIMEOUT_MS);
    if ((await registry.store.get(uid).catch(() => undefined)) === undefined) return;
    await this.#core.pods.refreshStatus(uid, limit.signal).catch(() => undefined);
    await this.#core.pods.flush();
  }
}

/** Returns a promise that resolves after the first relist, successful or not, or when the signal aborts. */
function createFirstRelist(signal: AbortSignal): {
  readonly done: Promise<void>;
  readonly observe: (notice: PlegNotice) => void;
} {
  let resolve = (): void => undefined;
  const done = new Promise<void>((resolved) => {
    resolve = resolved;
  });
  onAbort(signal, resolve);
  const observe = ({kind}: PlegNotice): void => {
    if (kind === 'relisted' || kind === 'relist-failed') resolve();
  };
  return {done, observe};
}
