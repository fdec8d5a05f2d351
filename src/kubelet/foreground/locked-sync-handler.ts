import type {Pod} from '../../api/types/v1-pod.js';
import {hasEnded} from '../../api/types/v1-status.js';
import {anySignal} from '../../base/async/any-signal.js';
import {messageOf} from '../../base/errors.js';
import type {PodUid} from '../../cri/index.js';
import type {Pleg, PodCache} from '../contract/pleg.js';
import type {EventSink} from '../contract/pod-event.js';
import {podRef} from '../contract/pod-ref.js';
import {emptyPodStatus, isLive, type RuntimePodStatus} from '../contract/runtime-pod-status.js';
import type {PodRegistry} from '../pods/registry/pod-registry.js';
import {requireNotSuperseded} from '../pods/registry/pod-ownership.js';
import type {ManagedPodSyncHandler} from '../pods/workers/managed-pod-sync-handler.js';
import type {PodSyncHandler, TerminationOptions} from '../pods/workers/run-work.js';
import type {SyncOutcome} from '../pods/workers/worker-state.js';
import type {PodWait} from './pod-wait.js';

/** Dependencies of a LockedSyncHandler. */
export interface LockedSyncHandlerOptions {
  readonly handler: ManagedPodSyncHandler;
  readonly registry: PodRegistry;
  readonly pleg: Pleg;
  readonly events: EventSink;
  /** Returns the wait of a pod, or undefined for a released pod, which must not be changed. */
  readonly findWait: (uid: PodUid) => PodWait | undefined;
}

const RELEASED: SyncOutcome = {isTerminal: false, hasActed: false};

/**
 * Runs each unit of a worker's work while holding the pod's lock, with a status read under that lock. Skips a pod that
 * is no longer the one that this `kcri sync` adopted. Reports the result to the pod's wait.
 */
export class LockedSyncHandler implements PodSyncHandler {
  readonly #options: LockedSyncHandlerOptions;

  constructor(options: LockedSyncHandlerOptions) {
    this.#options = options;
  }

  async syncPod(pod: Pod, _status: RuntimePodStatus, signal: AbortSignal): Promise<SyncOutcome> {
    const {handler, findWait} = this.#options;
    const {uid} = podRef(pod);
    const outcome = await this.#locked(pod, signal, async (status, aborted) => {
      const synced = await handler.syncPod(pod, status, aborted);
      const wait = findWait(uid);
      // The status of a sync is the one before its actions; a failure that ends the wait is shown too.
      if (wait?.hasFailed === true)
        wait.fail(await handler.refreshStatus(uid, aborted).catch(() => undefined));
      return synced;
    });
    return outcome ?? RELEASED;
  }

  /** Skips a terminated pod with no running container, so that a repeated sync of a finished pod makes no call. */
  async syncTerminatingPod(pod: Pod, _status: RuntimePodStatus, end: TerminationOptions): Promise<boolean> {
    const {handler} = this.#options;
    const hasActed = await this.#locked(pod, undefined, async (status, signal) => {
      const isEnded = end.status === undefined && hasEnded(handler.getStatus(podRef(pod).uid)?.phase);
      if (isEnded && !isLive(status)) return false;
      return await handler.syncTerminatingPod(pod, status, {...end, signal});
    });
    return hasActed ?? false;
  }

  async syncTerminatedPod(pod: Pod, _status: RuntimePodStatus, signal: AbortSignal): Promise<void> {
    const {handler, findWait} = this.#options;
    const {uid} = podRef(pod);
    await this.#locked(pod, signal, async (status, held) => handler.syncTerminatedPod(pod, status, held));
    findWait(uid)?.observeTermination(handler.getStatus(uid));
  }

  /** Does nothing: this process stops only adopted pods. */
  async syncTerminatingRuntimePod(): Promise<void> {
    // Only adopted pods are stopped.
  }

  async #locked<T>(
    pod: Pod,
    signal: AbortSignal | undefined,
    work: (status: RuntimePodStatus, signal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> {
    const {registry, handler, findWait} = this.#options;
    const ref = podRef(pod);
    const wait = findWait(ref.uid);
    if (wait === undefined) return undefined;
    using either = anySignal(wait.signal, ...(signal === undefined ? [] : [signal]));
    const aborted = either.signal;
    return await wait.run<T>(async (done) => {
      try {
        await registry.locks.withPodLock(ref, aborted, async () => {
          await requireNotSuperseded(pod, registry.store);
          // The worker finishes before the lock is released, so that a lifecycle event that arrives from now on causes
          // another sync, as in the daemon.
          done(await work(await this.#readStatus(pod, aborted), aborted));
          await handler.flush();
        });
      } catch (error) {
        if (!aborted.aborted) wait.observeError(error);
        throw error;
      }
    });
  }

  /** Resolves with a status that is newer than the lock, since another process may have changed the pod before. */
  async #readStatus(pod: Pod, signal: AbortSignal): Promise<RuntimePodStatus> {
    const {pleg, events} = this.#options;
    try {
      return await pleg.cache.getNewerThan(podRef(pod).uid, pleg.cache.mark(), signal);
    } catch (error) {
      signal.throwIfAborted();
      const message = `error determining status: ${messageOf(error)}`;
      events({type: 'Warning', reason: 'FailedSync', message, pod});
      throw error;
    }
  }
}

/** Returns a cache for the workers that never waits: LockedSyncHandler reads the status itself, under the lock. */
export function createUnlockedCache({cache}: Pick<Pleg, 'cache'>): PodCache {
  const get = (uid: PodUid): RuntimePodStatus => cache.lastSeen(uid) ?? emptyPodStatus(uid);
  return {
    get,
    lastSeen: (uid) => cache.lastSeen(uid),
    mark: () => cache.mark(),
    getNewerThan: async (uid) => get(uid),
  };
}
