import type {Pod} from '../../api/types/v1-pod.js';
import type {PodUid} from '../../cri/index.js';
import {podRef, type PodRef} from '../contract/pod-ref.js';
import {SupersededError} from '../pods/pod-errors.js';
import type {ManagedPodSet} from '../pods/registry/managed-pod-set.js';
import type {AdoptedPod, PodRegistry} from '../pods/registry/pod-registry.js';
import type {PodRecord} from '../pods/registry/pod-store.js';
import type {PodSyncer} from '../pods/sync/pod-syncer.js';

/**
 * Pods of one `kcri sync`: those of the command line, from their adoption until their results are known. Other kcri
 * processes may work on the same pods, so the set caches nothing beyond one unit of work (see LockedSyncHandler).
 */
export class RequestedPods implements ManagedPodSet {
  readonly #registry: PodRegistry;
  readonly #pods = new Map<PodUid, {readonly record: PodRecord; readonly syncer: PodSyncer}>();

  constructor(registry: PodRegistry) {
    this.#registry = registry;
  }

  /** Adds an adopted pod. A changed spec is applied to the pod with its previous spec. */
  add(pod: Pod, {record, before}: AdoptedPod): void {
    const syncer = this.#registry.createSyncer(before ?? pod, record.place);
    syncer.pod = pod;
    this.#pods.set(record.uid, {record, syncer});
  }

  /** Removes a pod from the set; it keeps running. */
  release(uid: PodUid): void {
    this.#pods.delete(uid);
  }

  /** Returns an empty list: these records are the candidates of orphaned pod cleanup, which belongs to the daemon. */
  allRecords(): readonly PodRecord[] {
    return [];
  }

  presentRecords(): readonly PodRecord[] {
    return [...this.#pods.values()].map(({record}) => record);
  }

  get(uid: PodUid): PodRecord | undefined {
    return this.#pods.get(uid)?.record;
  }

  getPresent(uid: PodUid): PodRecord | undefined {
    return this.get(uid);
  }

  listSyncers(): readonly PodSyncer[] {
    return [...this.#pods.values()].map(({syncer}) => syncer);
  }

  getSyncer(uid: PodUid): PodSyncer | undefined {
    return this.#pods.get(uid)?.syncer;
  }

  ensureSyncer(record: PodRecord): PodSyncer {
    return this.#pods.get(record.uid)?.syncer ?? this.#registry.createSyncer(record.pod, record.place);
  }

  /** Resolves with the record. The lock of the unit of work already excludes other processes. */
  async claim({uid}: PodRef): Promise<PodRecord | undefined> {
    return this.get(uid);
  }

  /**
   * Resolves with the syncer of the pod, which was adopted before it was delivered. Rejects with SupersededError if it
   * was released.
   */
  async adopt(pod: Pod): Promise<PodSyncer> {
    const ref = podRef(pod);
    const syncer = this.getSyncer(ref.uid);
    if (syncer === undefined) throw new SupersededError(ref, 'deleted');
    return syncer;
  }
}
