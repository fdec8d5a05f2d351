import type {LiveValue} from '../../contract/live-value.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {PodStatus} from '../../../api/types/v1-status.js';
import type {CallLimiter} from '../../../base/async/call-limiter.js';
import type {Clock} from '../../../base/clock.js';
import {forEachLimit} from '../../../base/async/for-each-limit.js';
import type {Logger} from '../../../base/logger.js';
import type {PodUid} from '../../../cri/index.js';
import type {ResizeReview} from '../../contract/pod-rejection.js';
import type {Pleg, RunningPod} from '../../contract/pleg.js';
import {podRef} from '../../contract/pod-ref.js';
import type {ProbeUpdate} from '../../contract/probe-results.js';
import type {RuntimeContainerStatus, RuntimePodStatus} from '../../contract/runtime-pod-status.js';
import type {OrphanedPods} from '../gc/orphaned-pods.js';
import type {PodRegistry} from '../registry/pod-registry.js';
import {isRecreatedByOthers} from '../registry/pod-ownership.js';
import type {PodEviction} from '../eviction/eviction-manager.js';
import type {ManagedPodSet} from '../registry/managed-pod-set.js';
import {ContainerCollector, type ContainerGcRules} from '../gc/container-collector.js';
import type {TerminationOptions, PodSyncHandler} from './run-work.js';
import type {SyncOutcome} from './worker-state.js';
import {CONFIG_SEEN_ANNOTATION} from '../../sources/static-pod.js';
import {NO_METRICS, type KubeletMetrics} from '../../contract/kubelet-metrics.js';
import type {ContainerBackOff} from '../../contract/waiting-reason.js';
import type {PodSyncer, SyncPass} from '../sync/pod-syncer.js';
import type {PodRecord} from '../registry/pod-store.js';
import type {SyncOptions} from '../sync/sync-options.js';
import {createPreparationLimiter} from '../../managers/kuberuntime/limit-starts.js';
import {computeSyncOutcome} from './compute-sync-outcome.js';

/** Dependencies of ManagedPodSyncHandler. */
export interface ManagedPodSyncHandlerOptions {
  readonly local: Pick<PodRegistry, 'remover'>;
  readonly own: ManagedPodSet;
  /** Removal of orphaned pods. */
  readonly orphans: Pick<OrphanedPods, 'isRemoving' | 'waitForRemoval' | 'remove' | 'release'>;
  readonly pleg: Pleg;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Returns the error of the runtime's network, with which only pods in the host network can start. */
  readonly networkError: () => string | undefined;
  /** Returns the reason why a pod does not get the resources that it requests. */
  readonly resizeReview: (uid: PodUid) => ResizeReview;
  /** Period in which the volumes of an idle pod are refreshed, in ms (syncFrequency). */
  readonly syncFrequencyMs: LiveValue<number>;
  /** Reports whether the pod is in a source. */
  readonly isWanted: (uid: PodUid) => boolean;
  /** Returns the status of the mirror pod of a static pod; undefined without one. None by default. */
  readonly mirrorStatus?: (uid: PodUid) => PodStatus | undefined;
  /** Observer of the syncs of pods. */
  readonly observer?: SyncObserver;
  /** Metrics of the kubelet; by default nothing is counted. */
  readonly metrics?: KubeletMetrics;
}

/** Observer of the syncs of pods (SyncPod). */
export interface SyncObserver {
  /** Called before the actions of a sync, with its initial status. */
  onStatus(pod: Pod, status: PodStatus): void;
  /** Called after a sync, with its initial status and its results. */
  onSynced(pod: Pod, pass: SyncPass): void;
}

/** A container instance of a managed pod. */
export interface ManagedContainer {
  readonly record: PodRecord;
  readonly container: RuntimeContainerStatus;
}

const PODS_AT_ONCE = 8;
/** Rank of all preparations. */
const FIRST_COME = 0;
/** Grace period of an orphaned pod known only from the runtime, in seconds. */
const ORPHAN_GRACE_SECONDS = 1;

/**
 * Executes the work of pod workers on managed pods, with one PodSyncer per pod (kubelet.go SyncPod, SyncTerminatingPod,
 * SyncTerminatedPod). Also removes orphaned pods and dead containers.
 */
export class ManagedPodSyncHandler implements PodSyncHandler {
  readonly #options: ManagedPodSyncHandlerOptions;
  readonly #own: ManagedPodSet;
  readonly #orphans: ManagedPodSyncHandlerOptions['orphans'];
  readonly #garbage: ContainerCollector;
  readonly #metrics: KubeletMetrics;
  /** The queue of the pods that are prepared for their first sandbox. */
  readonly #preparations: CallLimiter;

  constructor(options: ManagedPodSyncHandlerOptions) {
    const {metrics = NO_METRICS, logger} = options;
    this.#options = options;
    this.#metrics = metrics;
    this.#preparations = createPreparationLimiter(options.clock);
    const {own, orphans} = options;
    this.#own = own;
    this.#orphans = orphans;
    this.#garbage = new ContainerCollector({
      own,
      lastSeen: (uid) => this.#options.pleg.cache.lastSeen(uid),
      isRemoved: (uid) => orphans.isRemoving(uid),
      logger,
    });
  }

  isManaged(uid: PodUid): boolean {
    return this.#own.get(uid) !== undefined;
  }

  /** Returns the records of pods that have not been removed. */
  presentRecords(): readonly PodRecord[] {
    return this.#own.presentRecords();
  }

  /** Returns all records, including those of removed pods that still have dead containers in the runtime. */
  allRecords(): readonly PodRecord[] {
    return this.#own.allRecords();
  }

  /** Returns the running containers as of the last inspection; none of a pod that could not be inspected. */
  runningContainers(): readonly ManagedContainer[] {
    return this.presentRecords().flatMap((record) =>
      (this.#options.pleg.cache.lastSeen(record.uid)?.containers ?? [])
        .filter(({state}) => state === 'CONTAINER_RUNNING')
        .map((container) => ({record, container})),
    );
  }

  /** Returns the desired pod of a managed pod that has not been removed. */
  getPod(uid: PodUid): Pod | undefined {
    return this.#own.getPresent(uid)?.pod;
  }

  /** Returns the containers of a pod in restart back-off, by name. */
  getBackOffs(uid: PodUid): ReadonlyMap<string, ContainerBackOff> {
    return this.#own.getSyncer(uid)?.backOffs ?? new Map();
  }

  getStatus(uid: PodUid): PodStatus | undefined {
    return this.#own.getSyncer(uid)?.status;
  }

  /** Applies a probe result to the status at once, independent of the pod worker. */
  applyProbeUpdate(outcome: ProbeUpdate): void {
    this.#own.getSyncer(outcome.uid)?.applyProbeUpdate(outcome);
  }

  /** Takes over the status of the mirror pod, if the static pod is known; see PodStatusManager. */
  restoreMirror(uid: PodUid, stored: PodStatus): void {
    this.#own.getSyncer(uid)?.restoreMirror(stored);
  }

  /** Resolves when all state of the pods has been written, or its write has failed. */
  async flush(): Promise<void> {
    await forEachLimit(this.#own.listSyncers(), PODS_AT_ONCE, async (syncer) => syncer.flush());
  }

  /** Requests that the next sync of each pod refreshes its volumes, after API objects changed. */
  objectsChanged(): void {
    for (const syncer of this.#own.listSyncers()) syncer.requestVolumeRefresh();
  }

  async syncPod(pod: Pod, status: RuntimePodStatus, signal: AbortSignal): Promise<SyncOutcome> {
    if (status.sandboxes.length > 0) return await this.#syncPod(pod, status, {signal});
    // Step by step, pods that start at once would all be prepared before the first one gets its sandbox.
    const sync = async (onDirsMade: () => void): Promise<SyncOutcome> =>
      this.#syncPod(pod, status, {signal, onDirsMade});
    return await this.#preparations.runUntilReleased(FIRST_COME, sync, signal);
  }

  async #syncPod(
    pod: Pod,
    status: RuntimePodStatus,
    options: Pick<SyncOptions, 'signal' | 'onDirsMade'>,
  ): Promise<SyncOutcome> {
    if (this.#own.getPresent(podRef(pod).uid) === undefined) this.#metrics.workerStarted(seenAtMs(pod));
    const syncer = await this.#syncerFor(pod, status);
    const before = syncer.status?.phase;
    const pass = await syncer.syncPod(status, {
      networkError: this.#options.networkError(),
      resizeReview: this.#options.resizeReview(podRef(pod).uid),
      syncFrequencyMs: this.#options.syncFrequencyMs.current,
      voidsAttempts: true,
      onStatus: (current) => this.#options.observer?.onStatus(pod, current),
      ...options,
    });
    this.#count(pod, before, pass);
    this.#options.observer?.onSynced(pod, pass);
    return computeSyncOutcome(pass);
  }

  #count(pod: Pod, before: string | undefined, {results, status}: SyncPass): void {
    this.#metrics.podSynced(results, pod.spec.hostUsers === false);
    // Pods found running when the kubelet starts do not count as started.
    if (before === 'Pending' && status.phase === 'Running') this.#metrics.podStarted(seenAtMs(pod));
  }

  async syncTerminatingPod(pod: Pod, status: RuntimePodStatus, end: TerminationOptions): Promise<boolean> {
    // The pod is not managed: it was rejected, or another kcri process owns it.
    if ((await this.#own.claim(podRef(pod))) === undefined) return false;
    const syncer = await this.#syncerFor(pod, status, true);
    await syncer.syncTerminatingPod(status, {
      gracePeriodSeconds: end.gracePeriodSeconds,
      override: end.status,
      isDeletion: !this.#options.isWanted(podRef(pod).uid),
      signal: end.signal,
    });
    return true;
  }

  /** Terminates a managed pod known only from the runtime, with the spec in its record. */
  async syncTerminatingRuntimePod({uid}: RunningPod): Promise<void> {
    const known = this.#own.get(uid);
    const record = known && (await this.#own.claim(known));
    if (record === undefined) return;
    const status = this.#options.pleg.cache.get(uid);
    if (isRecreatedByOthers(record, status)) {
      await this.#orphans.release(record);
      return;
    }
    await this.#own.ensureSyncer(record).syncTerminatingPod(status, {
      gracePeriodSeconds: ORPHAN_GRACE_SECONDS,
      isDeletion: true,
    });
  }

  async syncTerminatedPod(pod: Pod, status: RuntimePodStatus, signal: AbortSignal): Promise<void> {
    if ((await this.#own.claim(podRef(pod))) === undefined) return;
    const syncer = await this.#syncerFor(pod, status, true);
    await syncer.syncTerminatedPod(status);
    const record = this.#own.get(podRef(pod).uid);
    if (record !== undefined)
      await this.#options.local.remover.removeVolumesAndCgroup(record, syncer, signal);
  }

  /** Reads the pod from the runtime, stores its status and resolves with it. Rejects with CriError. */
  async refreshStatus(uid: PodUid, signal?: AbortSignal): Promise<PodStatus | undefined> {
    return await this.#own.getSyncer(uid)?.refreshStatus(signal);
  }

  /** Removes older instances of a container of the pod that has died. Never rejects. */
  async removeDeadContainers(uid: PodUid, rules: ContainerGcRules): Promise<void> {
    await this.#garbage.removeDeadContainers(uid, rules);
  }

  /** Resolves with the final status of a pod that must be evicted. Rejects when its volumes cannot be measured. */
  async findEviction(uid: PodUid): Promise<PodEviction | undefined> {
    return await this.#own.getSyncer(uid)?.findEviction();
  }

  /** Resolves when no dead container of the pod is being removed. */
  async waitForRemovals(uid: PodUid): Promise<void> {
    await this.#garbage.waitForRemovals(uid);
  }

  /** Removes dead containers and sandboxes of all pods. Never rejects. */
  async collectGarbage(rules: ContainerGcRules): Promise<void> {
    await this.#garbage.collect(rules);
  }

  /**
   * Runs the removal steps that are due for an orphaned pod (see OrphanedPods). Resolves with false if one failed,
   * which is logged and must be retried.
   */
  async removeOrphan(uid: PodUid): Promise<boolean> {
    return await this.#orphans.remove(uid);
  }

  async #syncerFor(pod: Pod, status: RuntimePodStatus, isTerminating = false): Promise<PodSyncer> {
    await this.#orphans.waitForRemoval(podRef(pod).uid);
    const {uid} = podRef(pod);
    const isListed = this.#options.pleg.runningPods().some((listed) => listed.uid === uid);
    const syncer = await this.#own.adopt(pod, {status, isListed, isTerminating});
    const mirror = this.#options.mirrorStatus?.(uid);
    if (mirror !== undefined) syncer.restoreMirror(mirror);
    return syncer;
  }
}

/** Returns the time at which the pod's manifest was first seen, in ms since the epoch; every managed pod has it. */
function seenAtMs({metadata}: Pod): number {
  return Date.parse(metadata.annotations?.[CONFIG_SEEN_ANNOTATION] ?? '');
}
