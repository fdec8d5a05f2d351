import {isDeepStrictEqual} from 'node:util';
import type {Pod} from '../../../api/types/v1-pod.js';
import {SystemError} from '../../../base/errors.js';
import type {FileLogger, LogFields, Logger} from '../../../base/logger.js';
import {omit} from '../../../base/omit.js';
import type {PodUid} from '../../../cri/index.js';
import {namespacedName, podRef, type PodRef} from '../../contract/pod-ref.js';
import {createForeignError, createOwnedError, isForeign} from './pod-ownership.js';
import type {ManagedPodSet, PodInRuntime} from './managed-pod-set.js';
import type {PodRegistry} from './pod-registry.js';
import {lacksSpec} from './reconstruct-record.js';
import {UnmanagedPods} from './unmanaged-pods.js';
import {OtherRuntimeError} from '../pod-errors.js';
import type {PodRecord} from './pod-store.js';
import type {PodSyncer} from '../sync/pod-syncer.js';

/** Dependencies of ManagedPods. */
export interface ManagedPodsOptions {
  readonly local: PodRegistry;
  readonly logger: Logger;
  /** Returns the origin of a desired pod, for its record. */
  readonly originOf: (uid: PodUid) => string;
}

/** Pods that the daemon manages: those with a record of its own, with one PodSyncer each. */
export class ManagedPods implements ManagedPodSet {
  readonly #options: ManagedPodsOptions;
  readonly #logger: FileLogger;
  readonly #records = new Map<PodUid, PodRecord>();
  readonly #syncers = new Map<PodUid, PodSyncer>();
  /** UIDs of pods that are known to be in use by no other kcri process. */
  readonly #claimed = new Set<PodUid>();
  /** UIDs of pods whose record is being written. */
  readonly #storing = new Set<PodUid>();
  readonly #others: UnmanagedPods;

  constructor(options: ManagedPodsOptions) {
    this.#options = options;
    this.#logger = options.logger.forFile('managed-pods.ts');
    this.#others = new UnmanagedPods(options.local.store, options.local.endpoint);
  }

  /**
   * Loads the records of earlier daemons, and takes over the pods of another kubelet in the root directory. Skips pods that were
   * created on another runtime, since their state is unknown here. Rejects with SystemError and CriError.
   */
  async load(signal: AbortSignal): Promise<void> {
    const {local} = this.#options;
    const known = await local.store.list();
    const {records, removed, broken} = known;
    const own = [...records, ...removed].filter(({manager}) => manager === 'kubelet');
    for (const record of own) if (record.endpoint === local.endpoint) this.#records.set(record.uid, record);
    await this.#loadElsewhere(
      own.filter(({endpoint}) => endpoint !== local.endpoint),
      signal,
    );
    for (const {uid, error} of broken) this.#logger.error(error, 'Failed to read pod record', {podUID: uid});
    for (const record of await local.takeOverPods(known, signal)) {
      this.#records.set(record.uid, record);
      const fields = {pod: namespacedName(record), podUID: record.uid};
      this.#logger.info('Taking over pod of another kubelet', fields);
    }
    // Without them, a kubelet that comes back would resize or restart containers.
    const complete = this.presentRecords().filter((record) => !lacksSpec(record));
    await Promise.all(complete.map(async (record) => local.ensureActuatedResources(record)));
  }

  /** Loads the pods among these whose runtime has another socket now, and logs the others. */
  async #loadElsewhere(elsewhere: readonly PodRecord[], signal: AbortSignal): Promise<void> {
    const {local} = this.#options;
    const logFields = (record: PodRecord): LogFields => ({pod: namespacedName(record), podUID: record.uid});
    for (const record of await local.moveRecords(elsewhere, signal)) {
      this.#records.set(record.uid, record);
      this.#logger.info('The runtime of the pod has another socket now', logFields(record));
    }
    for (const record of elsewhere) {
      if (this.#records.has(record.uid) || record.removedAt !== undefined) continue;
      const error = new OtherRuntimeError(record, record.endpoint, local.endpoint);
      this.#logger.error(error, 'Skipping pod created on another runtime', logFields(record));
    }
  }

  /** Returns all records, including those of removed pods that still have dead containers in the runtime. */
  allRecords(): readonly PodRecord[] {
    return [...this.#records.values()];
  }

  /** Returns the records of pods that have not been removed. */
  presentRecords(): readonly PodRecord[] {
    return this.allRecords().filter(({removedAt}) => removedAt === undefined);
  }

  /** Returns the record of a managed pod, even if the pod was removed. */
  get(uid: PodUid): PodRecord | undefined {
    return this.#records.get(uid);
  }

  /** Returns the record of a managed pod that has not been removed. */
  getPresent(uid: PodUid): PodRecord | undefined {
    const record = this.#records.get(uid);
    return record?.removedAt === undefined ? record : undefined;
  }

  listSyncers(): readonly PodSyncer[] {
    return [...this.#syncers.values()];
  }

  /** Returns the syncer of the pod, if it has one. */
  getSyncer(uid: PodUid): PodSyncer | undefined {
    return this.#syncers.get(uid);
  }

  ensureSyncer(record: PodRecord): PodSyncer {
    const known = this.#syncers.get(record.uid);
    if (known !== undefined) return known;
    const syncer = this.#options.local.createSyncer(record.pod, record.place);
    if (record.takenOverAt !== undefined) syncer.takeOver(Date.parse(record.takenOverAt));
    this.#syncers.set(record.uid, syncer);
    return syncer;
  }

  /**
   * Resolves with the pod's record once no other kcri process can work on the pod: before this daemon ran, another one
   * may have started to delete or adopt it. Rejects with PodBusyError and SystemError.
   */
  async claim(ref: PodRef): Promise<PodRecord | undefined> {
    const {uid} = ref;
    const known = this.#records.get(uid);
    if (known === undefined || this.#claimed.has(uid)) return known;
    const {store} = this.#options.local;
    const now = await this.#options.local.locks.tryWithPodLock(ref, async () => await store.get(uid));
    if (now?.manager !== 'kubelet') this.forget(uid);
    // From now on other processes see the pod as managed. A removed pod can be claimed by any process.
    else if (now.removedAt === undefined) this.#claimed.add(uid);
    return this.#records.get(uid);
  }

  /** Replaces the record of a pod that was removed from the node; dead containers may remain in the runtime. */
  markRemoved(record: PodRecord): void {
    this.#claimed.delete(record.uid);
    this.#syncers.delete(record.uid);
    this.#records.set(record.uid, record);
  }

  /** Releases the pod, which the daemon no longer manages. */
  forget(uid: PodUid): void {
    this.#records.delete(uid);
    this.#syncers.delete(uid);
    this.#claimed.delete(uid);
  }

  /**
   * Adopts the pod as a managed one before it is created, and sets its desired spec. Rejects with SystemError when
   * another program or `kcri sync` owns it, and with OtherRuntimeError and PodBusyError.
   */
  async adopt(pod: Pod, found: PodInRuntime): Promise<PodSyncer> {
    const ref = podRef(pod);
    const {local} = this.#options;
    const known = await this.claim(ref);
    if (known !== undefined && known.removedAt === undefined) {
      if (known.pod === pod) return this.ensureSyncer(known);
      return await this.#recordChange(pod, known, found);
    }
    return await local.locks.tryWithPodLock(ref, async () => {
      await this.#refuseOther(ref);
      if (isForeign(known, found)) throw createForeignError(ref);
      return await this.#store(this.#createRecord(pod));
    });
  }

  /** Records a changed pod. One that terminates is stopped even if that fails: its old record is enough to find it. */
  async #recordChange(pod: Pod, known: PodRecord, {isTerminating = false}: PodInRuntime): Promise<PodSyncer> {
    const {local} = this.#options;
    const changed = this.#createRecord(pod, known);
    if (isSameOnDisk(known, changed)) return this.#manage(changed);
    try {
      await local.ensureActuatedResources(lacksSpec(known) ? changed : known);
      return await this.#store(changed);
    } catch (error) {
      if (!isTerminating || !(error instanceof SystemError)) throw error;
      const fields = {pod: namespacedName(podRef(pod))};
      this.#logger.error(error, 'Failed to record a pod, stopping it anyway', fields);
      return this.#manage(changed);
    }
  }

  async #store(record: PodRecord): Promise<PodSyncer> {
    this.#storing.add(record.uid);
    try {
      await this.#options.local.store.put(record);
    } finally {
      this.#storing.delete(record.uid);
    }
    return this.#manage(record);
  }

  #createRecord(pod: Pod, known?: PodRecord): PodRecord {
    const {local, originOf} = this.#options;
    return {...local.createRecord(pod, originOf(podRef(pod).uid), known), manager: 'kubelet'};
  }

  #manage(record: PodRecord): PodSyncer {
    const {uid, pod} = record;
    this.#records.set(uid, record);
    this.#claimed.add(uid);
    const syncer = this.ensureSyncer(record);
    syncer.pod = pod;
    return syncer;
  }

  #isOwn(uid: PodUid): boolean {
    return this.#records.has(uid) || this.#storing.has(uid);
  }

  /** Rejects if another kcri process or a kubelet on another runtime owns the pod. */
  async #refuseOther(ref: PodRef): Promise<void> {
    const other = await this.#others.conflictingPod(ref, (uid) => this.#isOwn(uid));
    if (other !== undefined) throw createOwnedError(ref, other, this.#options.local.endpoint);
  }
}

/**
 * Reports whether two records are equal, apart from what the API server changes in a Pod whenever its status is stored: no
 * process reads that from a record, and each write waits for the disk.
 */
function isSameOnDisk(one: PodRecord, other: PodRecord): boolean {
  return isDeepStrictEqual(comparedFields(one), comparedFields(other));
}

function comparedFields({pod, ...record}: PodRecord): unknown {
  const {metadata, ...rest} = omit(pod, 'status');
  return [record, rest, omit(metadata, 'resourceVersion', 'managedFields')];
}
