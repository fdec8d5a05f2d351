import type {Pod} from '../api/v1.js';
import type {PodStatus} from '../api/v1-status.js';
import type {Clock} from '../base/clock.js';
import {concurrently} from '../base/concurrently.js';
import type {Logger} from '../base/logger.js';
import type {PodUid} from '../cri/index.js';
import type {PendingResize} from './allocation/judge-resize.js';
import type {PodEvent} from './container/events.js';
import type {Pleg, RunningPod} from './container/pleg.js';
import {podRef} from './container/pod-ref.js';
import type {ProbeOutcome} from './container/probe-results.js';
import type {RuntimeContainerStatus, RuntimePodStatus} from './container/pod-status.js';
import {GonePods} from './gone-pods.js';
import type {LocalPods} from './local-pods.js';
import {isMadeByOthers, OwnPods} from './own-pods.js';
import {PodGarbage, type GarbageRules} from './pod-garbage.js';
import type {PodEnd, PodSyncHandler} from './pod-workers/carry-out.js';
import type {SyncOutcome} from './pod-workers/worker-state.js';
import {CONFIG_SEEN_ANNOTATION} from './config/static-pod.js';
import {NO_METRICS, type KubeletMetrics} from './container/kubelet-metrics.js';
import type {BackOff} from './pod-status-keeper.js';
import type {PodSyncer, SyncPass} from './pod-syncer.js';
import type {PodRecord} from './pod/pod-store.js';
import {outcomeOf} from './sync-outcome.js';

/** What the kubelet's pods need. */
export interface KubeletPodsOptions {
  readonly local: LocalPods;
  readonly pleg: Pleg;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Why only pods in the host's network can be started now. */
  readonly networkError: () => string | undefined;
  /** Why a pod isn't granted the resources that it asks for. */
  readonly pendingResize: (uid: PodUid) => PendingResize | undefined;
  /** Whether one of the sources has the pod. */
  readonly isWanted: (uid: PodUid) => boolean;
  /** Where a pod that is wanted comes from, for its record. */
  readonly originOf: (uid: PodUid) => string;
  /** Counts what is done; by default nobody does. */
  readonly metrics?: KubeletMetrics;
}

/** A container instance of a pod that is the daemon's. */
export interface OwnContainer {
  readonly record: PodRecord;
  readonly container: RuntimeContainerStatus;
}

const PODS_AT_ONCE = 8;
/** By what a pod was ended whose emptyDir volume takes more than it may (signalEmptyDirFsLimit). */
const EMPTY_DIR_LIMIT = 'emptydirfs.limit';
/** How long an ended pod's containers that only the runtime knows have to stop, in seconds. */
const ORPHAN_GRACE_SECONDS = 1;

/**
 * What workers do to the daemon's own pods, through one PodSyncer a pod (kubelet.go SyncPod and its sisters), and what
 * is to be seen of them. What they leave is removed.
 */
export class KubeletPods implements PodSyncHandler {
  readonly #options: KubeletPodsOptions;
  readonly #own: OwnPods;
  readonly #gone: GonePods;
  readonly #garbage: PodGarbage;
  readonly #metrics: KubeletMetrics;

  constructor(options: KubeletPodsOptions) {
    const {metrics = NO_METRICS, logger} = options;
    this.#options = options;
    this.#metrics = metrics;
    const own = new OwnPods(options);
    const gone = new GonePods({...options, own, metrics});
    this.#own = own;
    this.#gone = gone;
    this.#garbage = new PodGarbage({
      own,
      lastSeen: (uid) => this.#lastSeen(uid),
      isRemoved: (uid) => gone.isRemoving(uid),
      logger,
    });
  }

  /** Takes over what an earlier daemon has left. Rejects with SystemError. */
  async load(): Promise<void> {
    await this.#own.load();
  }

  isOurs(uid: PodUid): boolean {
    return this.#own.get(uid) !== undefined;
  }

  /** Those that are there. */
  owned(): readonly PodRecord[] {
    return this.#own.owned();
  }

  /** Also those of which the runtime alone keeps something. */
  records(): readonly PodRecord[] {
    return this.#own.records();
  }

  /** The containers that run, as last seen; none of a pod that could not be looked at. */
  runningContainers(): readonly OwnContainer[] {
    return this.owned().flatMap((record) =>
      (this.#lastSeen(record.uid)?.containers ?? [])
        .filter(({state}) => state === 'CONTAINER_RUNNING')
        .map((container) => ({record, container})),
    );
  }

  /** Undefined when it could not be looked at, of which its sync tells. */
  #lastSeen(uid: PodUid): RuntimePodStatus | undefined {
    try {
      return this.#options.pleg.cache.get(uid);
    } catch {
      return undefined;
    }
  }

  /** A pod of the daemon's that is there, as it was wanted last. */
  podOf(uid: PodUid): Pod | undefined {
    return this.#own.present(uid)?.pod;
  }

  /** Which containers of a pod wait before they are started again, by name. */
  backOffsOf(uid: PodUid): ReadonlyMap<string, BackOff> {
    return this.#own.syncer(uid)?.backOffs ?? new Map();
  }

  statusOf(uid: PodUid): PodStatus | undefined {
    return this.#own.syncer(uid)?.status;
  }

  /** Takes down what happens to a pod outside of its syncs; false when it isn't the daemon's. */
  tell(event: PodEvent): boolean {
    const syncer = this.#own.syncer(podRef(event.pod).uid);
    syncer?.tell(event);
    return syncer !== undefined;
  }

  /** Shows at once what a probe has found, whatever the pod's worker is at. */
  probed(outcome: ProbeOutcome): void {
    this.#own.syncer(outcome.uid)?.probed(outcome);
  }

  /** Resolves when all is written that is to be kept of pods, or can't be. */
  async settled(): Promise<void> {
    await concurrently(this.#own.syncers(), PODS_AT_ONCE, async (syncer) => syncer.settled());
  }

  /** What pods refer to has changed: the next sync of each brings its volumes up to date. */
  objectsChanged(): void {
    for (const syncer of this.#own.syncers()) syncer.renewVolumes();
  }

  async syncPod(pod: Pod, status: RuntimePodStatus, signal: AbortSignal): Promise<SyncOutcome> {
    if (this.#own.present(podRef(pod).uid) === undefined) this.#metrics.workerStarted(seenAtMs(pod));
    const syncer = await this.#syncerFor(pod, status);
    const before = syncer.status?.phase;
    const pass = await syncer.syncKnown(status, {
      networkError: this.#options.networkError(),
      pendingResize: this.#options.pendingResize(podRef(pod).uid),
      signal,
    });
    this.#count(pod, before, pass);
    const outcome = outcomeOf(pass);
    // Of a container that could not be started runtimes have no event to tell.
    if (pass.results.length > 0) this.#options.pleg.requestRelist(podRef(pod).uid);
    return outcome;
  }

  #count(pod: Pod, before: string | undefined, {results, status}: SyncPass): void {
    this.#metrics.synced(results, pod.spec.hostUsers === false);
    if (status.reason === 'Evicted' && before !== 'Failed') this.#metrics.evicted(EMPTY_DIR_LIMIT);
    // A kubelet that comes up finds pods that run; they weren't started now.
    if (before === 'Pending' && status.phase === 'Running') this.#metrics.podStarted(seenAtMs(pod));
  }

  async syncTerminatingPod(pod: Pod, status: RuntimePodStatus, end: PodEnd): Promise<void> {
    // Nothing of it is this kubelet's: it was refused, or another kcri has it.
    if ((await this.#own.claim(podRef(pod))) === undefined) return;
    const syncer = await this.#syncerFor(pod, status);
    await syncer.endKnown(status, {
      gracePeriodSeconds: end.gracePeriodSeconds,
      override: end.status,
      isDeletion: !this.#options.isWanted(podRef(pod).uid),
    });
    this.#options.pleg.requestRelist(podRef(pod).uid);
  }

  /** What kcri has made is known by its record, which says all of the pod. */
  async syncTerminatingRuntimePod({uid}: RunningPod): Promise<void> {
    const known = this.#own.get(uid);
    const record = known && (await this.#own.claim(known));
    if (record === undefined) return;
    const status = this.#options.pleg.cache.get(uid);
    if (isMadeByOthers(record, status)) {
      await this.#gone.disown(record);
      return;
    }
    await this.#own.syncerOf(record).endKnown(status, {
      gracePeriodSeconds: ORPHAN_GRACE_SECONDS,
      isDeletion: true,
    });
  }

  async syncTerminatedPod(pod: Pod, status: RuntimePodStatus): Promise<void> {
    if ((await this.#own.claim(podRef(pod))) === undefined) return;
    const syncer = await this.#syncerFor(pod, status);
    await syncer.concludeKnown(status);
    const record = this.#own.get(podRef(pod).uid);
    if (record !== undefined) await this.#options.local.removeResources(record);
  }

  /** Removes older instances of a container of the pod that has died. Never rejects. */
  async removeDead(uid: PodUid, rules: GarbageRules): Promise<void> {
    await this.#garbage.removeDead(uid, rules);
  }

  /** Removes what of all pods nobody needs any more. Never rejects. */
  async collectGarbage(rules: GarbageRules): Promise<void> {
    await this.#garbage.collect(rules);
  }

  /**
   * Removes what is left of a pod that nobody wants and of which nothing runs (see GonePods). False when something
   * couldn't be removed, which is told, and is to be tried again.
   */
  async remove(uid: PodUid): Promise<boolean> {
    return await this.#gone.remove(uid);
  }

  async #syncerFor(pod: Pod, status: RuntimePodStatus): Promise<PodSyncer> {
    await this.#gone.removed(podRef(pod).uid);
    return await this.#own.own(pod, status);
  }
}

/** Every pod of the daemon's says when its manifest was first seen. */
function seenAtMs({metadata}: Pod): number {
  return Date.parse(metadata.annotations?.[CONFIG_SEEN_ANNOTATION] ?? '');
}
