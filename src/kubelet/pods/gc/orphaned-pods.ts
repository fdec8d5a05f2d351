import type {Clock} from '../../../base/clock.js';
import type {FileLogger, Logger} from '../../../base/logger.js';
import type {PodUid} from '../../../cri/index.js';
import type {KubeletMetrics} from '../../contract/kubelet-metrics.js';
import type {Pleg} from '../../contract/pleg.js';
import {namespacedName} from '../../contract/pod-ref.js';
import type {PodRegistry} from '../registry/pod-registry.js';
import type {ManagedPods} from '../registry/managed-pods.js';
import type {PodRecord} from '../registry/pod-store.js';
import {CONTAINER_GC_PERIOD_MS} from './periodic-container-gc.js';

/** Dependencies of OrphanedPods. */
export interface OrphanedPodsOptions {
  readonly own: ManagedPods;
  readonly local: PodRegistry;
  readonly pleg: Pick<Pleg, 'requestRelist'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Reports whether the pod is in a source. */
  readonly isWanted: (uid: PodUid) => boolean;
  readonly metrics: Pick<KubeletMetrics, 'podRemoved'>;
  /** Interrupts removals when the kubelet stops: a driver may not answer for minutes. */
  readonly signal: AbortSignal;
}

/**
 * Removes orphaned pods: managed pods that are in no source and not running. Their resources on the node are removed at
 * once, their dead containers and records in the next period of container GC, like a kubelet. A pod created again in
 * between resumes its attempt count.
 */
export class OrphanedPods {
  readonly #options: OrphanedPodsOptions;
  readonly #logger: FileLogger;
  /** Start of the first period of container GC, in ms since the epoch. */
  readonly #startedAt: number;
  /** Removals in progress; they never reject. */
  readonly #removing = new Map<PodUid, Promise<boolean>>();

  constructor(options: OrphanedPodsOptions) {
    this.#options = options;
    this.#logger = options.logger.forFile('orphaned-pods.ts');
    this.#startedAt = options.clock.now();
  }

  isRemoving(uid: PodUid): boolean {
    return this.#removing.has(uid);
  }

  /** Resolves when no removal of the pod is in progress. */
  async waitForRemoval(uid: PodUid): Promise<void> {
    await this.#removing.get(uid);
  }

  /** Runs the removal steps that are due. Returns false if one failed, which is logged and must be retried. */
  async remove(uid: PodUid): Promise<boolean> {
    const record = this.#options.own.get(uid);
    if (record === undefined || this.#removing.has(uid)) return true;
    const removal = this.#removeStep(record);
    this.#removing.set(uid, removal);
    const isDone = await removal;
    this.#removing.delete(uid);
    return isDone;
  }

  async #removeStep(record: PodRecord): Promise<boolean> {
    const {own, signal} = this.#options;
    const {uid, removedAt} = record;
    try {
      if (removedAt !== undefined) {
        if (this.#isGarbage(removedAt)) await this.#removeRecord(record);
      } else if ((await own.claim(record)) !== undefined) await this.#removeFromNode(record);
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      const fields = {pod: namespacedName(record), podUID: uid};
      this.#logger.error(error, 'Failed to clean up orphaned pod', fields);
      return false;
    }
  }

  /** Reports whether a period of container GC has begun since the time; a clock that was set back counts as one. */
  #isGarbage(removedAt: string): boolean {
    const periodOf = (at: number): number => Math.floor((at - this.#startedAt) / CONTAINER_GC_PERIOD_MS);
    return periodOf(this.#options.clock.now()) !== periodOf(Date.parse(removedAt));
  }

  /** Removes the pod from the node. Reads its runtime status again first, since the last one may be out of date. */
  async #removeFromNode(record: PodRecord): Promise<void> {
    const {own, local, pleg, metrics, signal} = this.#options;
    if (await own.ensureSyncer(record).isLive()) {
      pleg.requestRelist(record.uid);
      return;
    }
    await local.remover.removeFromNode(record, own.ensureSyncer(record), signal);
    await own.getSyncer(record.uid)?.flush();
    own.markRemoved(await local.remover.markRemoved(record));
    metrics.podRemoved(record);
  }

  /**
   * Removes dead containers and the record, unless another process has adopted the pod or it runs again. The next
   * rounds then determine its owner.
   */
  async #removeRecord(record: PodRecord): Promise<void> {
    const {uid} = record;
    const {own, local, isWanted} = this.#options;
    const isDone = await local.locks.tryWithPodLock(record, async () => {
      const isStillRemoved = (await local.store.get(uid))?.removedAt !== undefined;
      if (!isStillRemoved) return true;
      if (isWanted(uid) || !(await local.createSyncer(record.pod, record.place).removeIfNotLive()))
        return false;
      await local.remover.forget(record);
      return true;
    });
    if (isDone) own.forget(uid);
  }

  /** Releases a removed pod whose UID another program uses again. */
  async release(record: PodRecord): Promise<void> {
    const {own, local} = this.#options;
    await local.locks.tryWithPodLock(record, async () => {
      await local.remover.forget(record);
    });
    own.forget(record.uid);
    const fields = {pod: namespacedName(record), podUID: record.uid};
    this.#logger.info('Releasing removed pod that another program has created again', fields);
  }
}
