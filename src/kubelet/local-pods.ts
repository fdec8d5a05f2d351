import type {Pod} from '../api/v1.js';
import {acquireLock, type LockOptions} from '../base/lock.js';
import {shared} from '../base/shared.js';
import type {PodUid} from '../cri/index.js';
import {ActuatedFiles, type ActuatedStore} from './allocation/actuated-files.js';
import type {KubeletMetrics} from './container/kubelet-metrics.js';
import {cgroupGround, type PodPlace} from './container/node.js';
import type {PodFilesystem} from './container/pod-filesystem.js';
import {allocationOf} from './container/pod-allocation.js';
import {podRef, type PodRef} from './container/pod-ref.js';
import {deletionAt, type PodHistory} from './events/pod-history.js';
import {podCgroupParents} from './kuberuntime/pod-cgroup.js';
import type {LocalPodsOptions} from './local-pods-options.js';
import {BusyPodError, SupersededError} from './pod-error.js';
import {neighboursFrom, type PodNeighbours} from './pod-neighbours.js';
import {podStanding, requireOurs, type Standing} from './pod-standing.js';
import type {PodSyncer} from './pod-syncer.js';
import {nodeAt, PodSyncers} from './pod-syncers.js';
import {PodStore, type PodRecord} from './pod/pod-store.js';
import type {ProbeManager} from './prober/probe-manager.js';
import {removePodCgroup} from './resources/pod-cgroup.js';
import {salvageRecord} from './salvage-record.js';

/** A pod that has become kcri's own. */
export interface AdoptedPod {
  readonly record: PodRecord;
  /** As it was synced before; undefined for a new one. */
  readonly before: Pod | undefined;
}

/** How a pod is ended. */
export interface EndOptions {
  /** Replaces the pod's own grace period. */
  readonly gracePeriodSeconds?: number | undefined;
  /** Ends the wait for containers to stop; `end` then rejects with its reason, and can be called again. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The pods that kcri has made: those with a record under the root directory. Every other pod in the runtime
 * is somebody else's and is never touched. Work on one pod is serial, between processes too.
 */
export class LocalPods {
  readonly #options: LocalPodsOptions;
  readonly #actuated: ActuatedStore;
  readonly #syncers: PodSyncers;
  readonly #neighbours: PodNeighbours;
  readonly store: PodStore;

  constructor(options: LocalPodsOptions) {
    const {node} = options;
    this.#options = options;
    this.store = new PodStore(node.rootDir);
    this.#neighbours = neighboursFrom({...options, store: this.store}, shared);
    this.#actuated = options.actuated ?? new ActuatedFiles(node.rootDir);
    this.#syncers = new PodSyncers(options, this.#actuated);
  }

  /** Has probes and pulls counted; nobody counts them before. */
  count(metrics: Pick<KubeletMetrics, 'probed' | 'imageEnsured' | 'imagePulled'>): void {
    this.#syncers.count(metrics);
  }

  /** The runtime's. */
  get endpoint(): string {
    return this.#options.endpoint;
  }

  /** What probes the pods; undefined where all are taken to be well. */
  get probes(): ProbeManager | undefined {
    return this.#options.probes;
  }

  /** What syncs, observes and ends one pod, which stays where it was made. */
  syncer(pod: Pod, place: PodPlace = this.#options.node): PodSyncer {
    return this.#syncers.syncerOf(pod, place);
  }

  /** Runs `work` while no other kcri works on the pod of that name. */
  async exclusively<T>(ref: PodRef, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    return await this.#locked(`${ref.namespace}_${ref.name}`, this.#turn(ref, signal), work);
  }

  /** The same, but rejects with BusyPodError when another one does. */
  async unlessBusy<T>(ref: PodRef, work: () => Promise<T>): Promise<T> {
    const onWait = (pid: number): void => {
      throw new BusyPodError(ref, pid);
    };
    return await this.#locked(`${ref.namespace}_${ref.name}`, {onWait}, work);
  }

  #turn(ref: PodRef, signal: AbortSignal | undefined): LockOptions {
    const onWait = (pid: number): void => {
      this.#options.observer.waiting(ref, pid);
    };
    return {signal, onWait};
  }

  async #locked<T>(name: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
    const {node, clock} = this.#options;
    const lock = await acquireLock(`${node.rootDir}/locks/${name}.lock`, {clock, ...options});
    try {
      return await work();
    } finally {
      await lock[Symbol.asyncDispose]();
    }
  }

  /** See podStanding, which it rejects like. Changes nothing. */
  async standing(pod: Pod, neighbours = this.#neighbours): Promise<Standing> {
    return await podStanding(pod, {...this.#options, store: this.store, neighbours});
  }

  /** The record of the pod of that name: there is one at most, since a changed pod's older one is ended first. */
  async findByName({namespace, name}: Pick<PodRef, 'namespace' | 'name'>): Promise<PodRecord | undefined> {
    const {records} = await this.#neighbours.records();
    return records.find((record) => record.namespace === namespace && record.name === name);
  }

  /** Takes what a pod says for what it was given, where nothing is known of that: before it says something else. */
  async keepActuated({uid, pod}: PodRecord): Promise<void> {
    if ((await this.#actuated.read(uid)) === undefined) await this.#actuated.write(uid, allocationOf(pod));
  }

  /**
   * Makes the pod kcri's own before anything of it exists: refuses a UID that another pod has, ends an older pod
   * of the same name, writes the record. To be called exclusively.
   */
  async adopt(pod: Pod, source: string, signal?: AbortSignal): Promise<AdoptedPod> {
    const ref = podRef(pod);
    // Pods of different names may claim one UID at the same time. No namespace begins with an underscore.
    const adopt = async (): Promise<AdoptedPod> => await this.#adopt(pod, source, signal);
    return await this.#locked(`_${ref.uid}`, this.#turn(ref, signal), adopt);
  }

  async #adopt(pod: Pod, source: string, signal: AbortSignal | undefined): Promise<AdoptedPod> {
    const {known, older} = await this.standing(pod);
    if (older !== undefined) await this.end(older, {signal});
    if (known !== undefined) await this.keepActuated(known);
    const record = this.recordOf(pod, source, known);
    await this.store.put(record);
    return {record, before: known?.pod};
  }

  /** The record of a pod that is made here, or was before. */
  recordOf(pod: Pod, source: string, known?: PodRecord): PodRecord {
    const {uid, namespace, name} = podRef(pod);
    const {clock, node, endpoint} = this.#options;
    const createdAt = known?.createdAt ?? new Date(clock.now()).toISOString();
    const place = known?.place ?? {podLogsDir: node.podLogsDir, cgroup: node.cgroup};
    return {uid, namespace, name, source, createdAt, endpoint, place, pod};
  }

  /**
   * Rejects with SupersededError when the pod is no longer what `adopt` made of it: another kcri has deleted it
   * or given it another spec. To be called exclusively.
   */
  async requireOwn(pod: Pod): Promise<void> {
    const ref = podRef(pod);
    const record = await this.store.get(ref.uid);
    if (record === undefined) throw new SupersededError(ref, 'deleted');
    if (JSON.stringify(record.pod.spec) !== JSON.stringify(pod.spec))
      throw new SupersededError(ref, 'changed');
  }

  /** A record in the place of one that can't be read, good enough to end the pod. Rejects with CriError. */
  async salvage(uid: PodUid): Promise<PodRecord> {
    const {services, node, endpoint} = this.#options;
    const place = {podLogsDir: node.podLogsDir, cgroup: node.cgroup};
    return {...(await salvageRecord(services.runtime, uid, place)), endpoint};
  }

  /**
   * Ends a pod and removes all that is left of it: containers, sandboxes, logs, volumes, directories, cgroup,
   * and at last the record, so that whatever fails or is interrupted half-way can be ended again. To be called
   * exclusively. Rejects like requireOurs, before anything is changed.
   */
  async end(record: PodRecord, {gracePeriodSeconds, signal}: EndOptions = {}): Promise<void> {
    await requireOurs(record, this.#options);
    const {pod, place} = record;
    const history = this.#syncers.historyOf(record);
    await this.#rememberDeletion(record, history, gracePeriodSeconds);
    const syncer = this.#syncers.syncerOf(pod, place, history);
    await syncer.terminate(gracePeriodSeconds, signal);
    await syncer.removeFromRuntime();
    await this.removeRest(record);
    await history.settled();
    await this.forget(record);
  }

  /** Removes what a pod still has on the node when nothing of it is in the runtime any more. */
  async removeRest(record: PodRecord): Promise<void> {
    await this.#filesOf(record).removePod(record.pod);
    await this.#removeCgroup(record);
  }

  /** Removes the volumes and the cgroup of a pod that has ended; what it said and left in the runtime stays. */
  async removeResources(record: PodRecord): Promise<void> {
    await this.#filesOf(record).removeVolumes(record.pod);
    await this.#removeCgroup(record);
  }

  #filesOf({place}: PodRecord): PodFilesystem {
    const {files, node} = this.#options;
    return files(nodeAt(node, place));
  }

  async #removeCgroup({uid, place}: PodRecord): Promise<void> {
    const node = nodeAt(this.#options.node, place);
    const ground = cgroupGround(node);
    if (ground === undefined) return;
    await removePodCgroup(ground, podCgroupParents(uid, node.cgroup), this.#options.clock);
  }

  /** The pod is no longer kcri's: what is left of it, if anything, is somebody else's. */
  async forget({uid}: PodRecord): Promise<void> {
    await this.#forgetPast(uid);
    await this.store.delete(uid);
  }

  /** The pod is gone but for what the runtime keeps of its end; gives its record. */
  async leave(record: PodRecord): Promise<PodRecord> {
    await this.#forgetPast(record.uid);
    const gone = {...record, goneAt: new Date(this.#options.clock.now()).toISOString()};
    await this.store.put(gone);
    return gone;
  }

  async #forgetPast(uid: PodUid): Promise<void> {
    await this.#options.histories?.delete(uid);
    await this.#actuated.delete(uid);
  }

  /** The pod is told to be ending as long as it does, and when its end is interrupted. */
  async #rememberDeletion(
    {pod}: PodRecord,
    history: PodHistory,
    gracePeriodSeconds = pod.spec.terminationGracePeriodSeconds ?? 0,
  ): Promise<void> {
    const {status = {}, reasons = {}} = (await history.lastKnown()) ?? {};
    const deletion = deletionAt(this.#options.clock.now(), gracePeriodSeconds);
    history.remember({status, reasons, deletion});
  }
}
