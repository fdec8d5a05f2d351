import type {Pod} from '../api/v1.js';
import type {PodStatus} from '../api/v1-status.js';
import type {Clock} from '../base/clock.js';
import {concurrently} from '../base/concurrently.js';
import {SystemError} from '../base/errors.js';
import type {Logger} from '../base/logger.js';
import type {PodUid} from '../cri/index.js';
import type {PendingResize} from './allocation/judge-resize.js';
import type {PodEvent} from './container/events.js';
import type {Pleg, RunningPod} from './container/pleg.js';
import {formatPod, podRef, type PodRef} from './container/pod-ref.js';
import type {RuntimeContainerStatus, RuntimePodStatus} from './container/pod-status.js';
import {failuresOf, syncErrorText, type SyncResult} from './container/sync-result.js';
import {deadContainers, planGarbage, type ContainerGcPolicy, type Garbage} from './kuberuntime/garbage.js';
import type {LocalPods} from './local-pods.js';
import type {PodEnd, PodSyncHandler} from './pod-workers/pod-workers.js';
import {NetworkNotReadyError, type SyncOutcome} from './pod-workers/worker-state.js';
import {CONFIG_SEEN_ANNOTATION} from './config/static-pod.js';
import {NO_METRICS, type KubeletMetrics} from './container/kubelet-metrics.js';
import type {BackOff, PodSyncer, SyncPass} from './pod-syncer.js';
import {OtherPods} from './pod/other-pods.js';
import type {PodRecord} from './pod/pod-store.js';

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

/** Which dead containers stay. */
export interface GarbageRules {
  readonly policy: ContainerGcPolicy;
  readonly now: number;
  /** Nobody wants the pod any more. */
  readonly isUnwanted: (uid: PodUid) => boolean;
}

const NO_GARBAGE: Garbage = {containers: [], sandboxes: []};
const PODS_AT_ONCE = 8;
/** By what a pod was ended whose emptyDir volume takes more than it may (signalEmptyDirFsLimit). */
const EMPTY_DIR_LIMIT = 'emptydirfs.limit';
/** How long a runtime keeps what is left of a pod that is gone. */
const REMAINS_MS = 10_000;
/** How long an ended pod's containers that only the runtime knows have to stop, in seconds. */
const ORPHAN_GRACE_SECONDS = 1;

/**
 * The pods that the daemon keeps: those with a record of its own. What workers do to them is done here, through one
 * PodSyncer a pod, and what they leave is removed (kubelet.go SyncPod and its sisters).
 */
export class KubeletPods implements PodSyncHandler {
  readonly #options: KubeletPodsOptions;
  readonly #records = new Map<PodUid, PodRecord>();
  readonly #syncers = new Map<PodUid, PodSyncer>();
  /** The removals under way; never reject. */
  readonly #removing = new Map<PodUid, Promise<boolean>>();
  /** The last removal of dead containers of each pod of which some are being removed; never rejects. */
  readonly #garbageRounds = new Map<PodUid, Promise<void>>();
  /** The pods of which it is certain that no other kcri works on them. */
  readonly #claimed = new Set<PodUid>();
  readonly #others: OtherPods;
  readonly #metrics: KubeletMetrics;

  constructor(options: KubeletPodsOptions) {
    this.#options = options;
    this.#metrics = options.metrics ?? NO_METRICS;
    this.#others = new OtherPods(options.local.store);
  }

  /** Takes over what an earlier daemon has left. Rejects with SystemError. */
  async load(): Promise<void> {
    const {records, gone, broken} = await this.#options.local.store.list();
    for (const record of [...records, ...gone])
      if (record.manager === 'kubelet') this.#records.set(record.uid, record);
    for (const {uid, error} of broken)
      this.#options.logger.error(error, 'Could not read the record of a pod', {podUID: uid});
  }

  isOurs(uid: PodUid): boolean {
    return this.#records.has(uid);
  }

  /** Those that are there. */
  owned(): readonly PodRecord[] {
    return this.records().filter(({goneAt}) => goneAt === undefined);
  }

  /** Also those of which the runtime alone keeps something. */
  records(): readonly PodRecord[] {
    return [...this.#records.values()];
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
    return this.#thereIs(uid)?.pod;
  }

  #thereIs(uid: PodUid): PodRecord | undefined {
    const record = this.#records.get(uid);
    return record?.goneAt === undefined ? record : undefined;
  }

  /** Which containers of a pod wait before they are started again, by name. */
  backOffsOf(uid: PodUid): ReadonlyMap<string, BackOff> {
    return this.#syncers.get(uid)?.backOffs ?? new Map();
  }

  statusOf(uid: PodUid): PodStatus | undefined {
    return this.#syncers.get(uid)?.status;
  }

  /** Takes down what happens to a pod outside of its syncs; false when it isn't the daemon's. */
  tell(event: PodEvent): boolean {
    const syncer = this.#syncers.get(podRef(event.pod).uid);
    syncer?.tell(event);
    return syncer !== undefined;
  }

  /** Resolves when all is written that is to be kept of pods, or can't be. */
  async settled(): Promise<void> {
    await concurrently([...this.#syncers.values()], PODS_AT_ONCE, async (syncer) => syncer.settled());
  }

  /** What pods refer to has changed: the next sync of each brings its volumes up to date. */
  objectsChanged(): void {
    for (const syncer of this.#syncers.values()) syncer.renewVolumes();
  }

  async syncPod(pod: Pod, status: RuntimePodStatus, signal: AbortSignal): Promise<SyncOutcome> {
    if (this.#thereIs(podRef(pod).uid) === undefined) this.#metrics.workerStarted(seenAtMs(pod));
    const syncer = await this.#own(pod, status);
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
    if ((await this.#claim(podRef(pod))) === undefined) return;
    const syncer = await this.#own(pod, status);
    await syncer.endKnown(status, {
      gracePeriodSeconds: end.gracePeriodSeconds,
      override: end.status,
      isDeletion: !this.#options.isWanted(podRef(pod).uid),
    });
    this.#options.pleg.requestRelist(podRef(pod).uid);
  }

  /** What kcri has made is known by its record, which says all of the pod. */
  async syncTerminatingRuntimePod({uid}: RunningPod): Promise<void> {
    const known = this.#records.get(uid);
    const record = known && (await this.#claim(known));
    if (record === undefined) return;
    const status = this.#options.pleg.cache.get(uid);
    await this.#syncerOf(record).endKnown(status, {
      gracePeriodSeconds: ORPHAN_GRACE_SECONDS,
      isDeletion: true,
    });
  }

  async syncTerminatedPod(pod: Pod, status: RuntimePodStatus): Promise<void> {
    if ((await this.#claim(podRef(pod))) === undefined) return;
    const syncer = await this.#own(pod, status);
    await syncer.concludeKnown(status);
    const record = this.#records.get(podRef(pod).uid);
    if (record !== undefined) await this.#options.local.removeResources(record);
  }

  /** Removes older instances of a container of the pod that has died. */
  async removeDead(uid: PodUid, {policy, isUnwanted}: GarbageRules): Promise<void> {
    const record = this.#records.get(uid);
    const status = this.#lastSeen(uid);
    if (record === undefined || status === undefined) return;
    const containers = deadContainers({status, isUnwanted: isUnwanted(uid)}, policy);
    await this.#removeGarbage(record, {containers, sandboxes: []});
  }

  /** Removes what of all pods nobody needs any more. */
  async collectGarbage({policy, now, isUnwanted}: GarbageRules): Promise<void> {
    const seen = this.owned().flatMap((record) => {
      const status = this.#lastSeen(record.uid);
      return status === undefined ? [] : [{record, status, isUnwanted: isUnwanted(record.uid)}];
    });
    const garbage = planGarbage(seen, policy, now);
    const work = seen.map(({record}, index) => ({record, garbage: garbage[index] ?? NO_GARBAGE}));
    await concurrently(work, PODS_AT_ONCE, async (pod) => this.#removeGarbage(pod.record, pod.garbage));
  }

  /** One round after the other: runtimes refuse to remove what is just being removed. */
  async #removeGarbage(record: PodRecord, garbage: Garbage): Promise<void> {
    const {uid} = record;
    if (garbage.containers.length + garbage.sandboxes.length === 0) return;
    const before = this.#garbageRounds.get(uid) ?? Promise.resolve();
    const round = before.then(() => this.#removeNow(record, garbage));
    this.#garbageRounds.set(uid, round);
    await round;
    if (this.#garbageRounds.get(uid) === round) this.#garbageRounds.delete(uid);
  }

  /** What fails is told, and tried again with the next round. */
  async #removeNow(record: PodRecord, garbage: Garbage): Promise<void> {
    const {uid} = record;
    if (this.#removing.has(uid)) return;
    try {
      await this.#syncerOf(record).removeGarbage(garbage);
    } catch (error) {
      const fields = {pod: nameOf(record), podUID: uid};
      this.#options.logger.error(error, 'Failed to remove dead containers', fields);
    }
  }

  /**
   * Removes what is left of a pod that nobody wants and of which nothing runs: at once what is on the node, and later
   * what the runtime keeps of it, and its record. One that is wanted again meanwhile counts on from there, as in a
   * kubelet, whose next round of garbage collection that waits for. False when something couldn't be removed, which is
   * told, and is to be tried again.
   */
  async remove(uid: PodUid): Promise<boolean> {
    const record = this.#records.get(uid);
    if (record === undefined || this.#removing.has(uid)) return true;
    const removal = this.#removeLeft(record);
    this.#removing.set(uid, removal);
    const isDone = await removal;
    this.#removing.delete(uid);
    return isDone;
  }

  async #removeLeft(record: PodRecord): Promise<boolean> {
    const {clock, logger} = this.#options;
    try {
      if ((await this.#claim(record)) === undefined) return true;
      if (record.goneAt === undefined) await this.#leave(record);
      else if (Date.parse(record.goneAt) + REMAINS_MS <= clock.now()) await this.#removeRemains(record);
      return true;
    } catch (error) {
      const fields = {pod: nameOf(record), podUID: record.uid};
      logger.error(error, 'Failed to remove what is left of a pod', fields);
      return false;
    }
  }

  async #leave(record: PodRecord): Promise<void> {
    const {uid} = record;
    const {local} = this.#options;
    await local.removeRest(record);
    await this.#syncers.get(uid)?.settled();
    this.#syncers.delete(uid);
    this.#records.set(uid, await local.leave(record));
    this.#metrics.podGone(record);
  }

  /** Unless somebody else has made it his own since. */
  async #removeRemains(record: PodRecord): Promise<void> {
    const {uid} = record;
    const {local} = this.#options;
    await local.unlessBusy(record, async () => {
      const isStillGone = (await local.store.get(uid))?.goneAt !== undefined;
      if (isStillGone) {
        await this.#syncerOf(record).removeFromRuntime();
        await local.forget(record);
      }
    });
    this.#forget(uid);
  }

  /**
   * The pod's record, once it is certain that no other kcri works on the pod: before this daemon ran one may have begun
   * to end it, or have made it its own. Rejects with BusyPodError and SystemError.
   */
  async #claim(ref: PodRef): Promise<PodRecord | undefined> {
    const {uid} = ref;
    const known = this.#records.get(uid);
    if (known === undefined || this.#claimed.has(uid)) return known;
    const {store} = this.#options.local;
    const now = await this.#options.local.unlessBusy(ref, async () => await store.get(uid));
    // The others see from now on that it is kept.
    if (now?.manager === 'kubelet') this.#claimed.add(uid);
    else this.#forget(uid);
    return this.#records.get(uid);
  }

  #forget(uid: PodUid): void {
    this.#records.delete(uid);
    this.#syncers.delete(uid);
    this.#claimed.delete(uid);
  }

  /** Makes the pod kcri's own before anything of it exists, and takes in what is wanted of it now. */
  async #own(pod: Pod, status: RuntimePodStatus): Promise<PodSyncer> {
    const ref = podRef(pod);
    const {local} = this.#options;
    await this.#removing.get(ref.uid);
    const known = await this.#claim(ref);
    if (known?.pod === pod) return this.#syncerOf(known);
    if (known?.goneAt !== undefined) return await this.#record(pod, undefined);
    if (known !== undefined) {
      await local.keepActuated(known);
      return await this.#record(pod, known);
    }
    return await local.unlessBusy(ref, async () => {
      await this.#refuseOther(ref);
      this.#refuseForeign(ref, status);
      const syncer = await this.#record(pod, undefined);
      this.#claimed.add(ref.uid);
      return syncer;
    });
  }

  async #record(pod: Pod, known: PodRecord | undefined): Promise<PodSyncer> {
    const {uid} = podRef(pod);
    const {local, originOf} = this.#options;
    const record = {...local.recordOf(pod, originOf(uid), known), manager: 'kubelet' as const};
    await local.store.put(record);
    this.#records.set(uid, record);
    const syncer = this.#syncerOf(record);
    syncer.pod = pod;
    return syncer;
  }

  /** Two kcris never work on one pod. */
  async #refuseOther(ref: PodRef): Promise<void> {
    const other = await this.#others.inTheWayOf(ref, (uid) => this.#records.has(uid));
    if (other === undefined) return;
    throw new SystemError(
      `the pod "${nameOf(other)}" of "kcri sync" is there already: ${formatPod(ref)} is not started`,
      {
        hint: `"kcri delete ${nameOf(other)}" ends it`,
      },
    );
  }

  #refuseForeign(ref: PodRef, {sandboxes}: RuntimePodStatus): void {
    if (sandboxes.length === 0 && this.#options.pleg.runningPods().every(({uid}) => uid !== ref.uid)) return;
    throw new SystemError(
      `a pod with the UID "${ref.uid}" is in the runtime already and was not made by this kubelet: ${formatPod(ref)} is not started`,
      {hint: 'give the manifest another metadata.uid, or end that pod with the tool that made it'},
    );
  }

  #syncerOf(record: PodRecord): PodSyncer {
    const syncer = this.#syncers.get(record.uid) ?? this.#options.local.syncer(record.pod, record.place);
    this.#syncers.set(record.uid, syncer);
    return syncer;
  }
}

/** Every pod of the daemon's says when its manifest was first seen. */
function seenAtMs({metadata}: Pod): number {
  return Date.parse(metadata.annotations?.[CONFIG_SEEN_ANNOTATION] ?? '');
}

function nameOf({namespace, name}: PodRef): string {
  return `${namespace}/${name}`;
}

const TELLS_NOBODY: ReadonlySet<SyncResult['action']> = new Set(['RemoveContainer', 'ResizePodInPlace']);

function outcomeOf({status: {phase}, results}: SyncPass): SyncOutcome {
  const isTerminal = phase === 'Succeeded' || phase === 'Failed';
  const failures = failuresOf(results);
  if (failures.length === 0)
    // All containers are gone, to begin anew, or have what they were to get: nothing tells of that.
    return {isTerminal, again: results.some(({action}) => TELLS_NOBODY.has(action))};
  const retryTimes = failures.map(({failure}) => failure.retryAt).filter((time) => time !== undefined);
  const text = syncErrorText(failures);
  const isNetwork = failures.some(({failure}) => failure.reason === 'NetworkNotReady');
  return {
    isTerminal,
    error: isNetwork ? new NetworkNotReadyError(text) : new Error(text),
    retryAt: retryTimes.length === 0 ? undefined : Math.min(...retryTimes),
  };
}
