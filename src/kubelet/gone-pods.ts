import type {Clock} from '../base/clock.js';
import type {Logger} from '../base/logger.js';
import type {PodUid} from '../cri/index.js';
import type {KubeletMetrics} from './container/kubelet-metrics.js';
import type {Pleg} from './container/pleg.js';
import {namespacedName} from './container/pod-ref.js';
import type {LocalPods} from './local-pods.js';
import type {OwnPods} from './own-pods.js';
import type {PodRecord} from './pod/pod-store.js';

/** What the removal of pods needs. */
export interface GonePodsOptions {
  readonly own: OwnPods;
  readonly local: LocalPods;
  readonly pleg: Pick<Pleg, 'requestRelist'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether one of the sources has the pod. */
  readonly isWanted: (uid: PodUid) => boolean;
  readonly metrics: Pick<KubeletMetrics, 'podGone'>;
}

/** How long a runtime keeps what is left of a pod that is gone. */
const REMAINS_MS = 10_000;

/**
 * Removes the daemon's pods that nobody wants and of which nothing runs: at once what is on the node, and later what
 * the runtime keeps of them, and their records. One that is wanted again meanwhile counts on from there, as in a
 * kubelet, whose next round of garbage collection that waits for.
 */
export class GonePods {
  readonly #options: GonePodsOptions;
  /** The removals under way; never reject. */
  readonly #removing = new Map<PodUid, Promise<boolean>>();

  constructor(options: GonePodsOptions) {
    this.#options = options;
  }

  isRemoving(uid: PodUid): boolean {
    return this.#removing.has(uid);
  }

  /** Resolves when nothing of the pod is being removed. */
  async removed(uid: PodUid): Promise<void> {
    await this.#removing.get(uid);
  }

  /** Goes on as far as it is time for. False when something couldn't be removed, which is told, and is to be tried again. */
  async remove(uid: PodUid): Promise<boolean> {
    const record = this.#options.own.get(uid);
    if (record === undefined || this.#removing.has(uid)) return true;
    const removal = this.#removeLeft(record);
    this.#removing.set(uid, removal);
    const isDone = await removal;
    this.#removing.delete(uid);
    return isDone;
  }

  async #removeLeft(record: PodRecord): Promise<boolean> {
    const {clock, logger, own} = this.#options;
    const {uid, goneAt} = record;
    try {
      if (goneAt !== undefined) {
        if (Date.parse(goneAt) + REMAINS_MS <= clock.now()) await this.#removeRemains(record);
      } else if ((await own.claim(record)) !== undefined) await this.#leave(record);
      return true;
    } catch (error) {
      const fields = {pod: namespacedName(record), podUID: uid};
      logger.error(error, 'Failed to remove what is left of a pod', fields);
      return false;
    }
  }

  /** What was last seen of the pod may be old: it is looked at anew before its volumes go. */
  async #leave(record: PodRecord): Promise<void> {
    const {own, local, pleg, metrics} = this.#options;
    if (await own.syncerOf(record).isLive()) {
      pleg.requestRelist(record.uid);
      return;
    }
    await local.removeRest(record);
    await own.syncer(record.uid)?.settled();
    own.leave(await local.leave(record));
    metrics.podGone(record);
  }

  /**
   * Unless somebody else has made it his own since, or it runs again, whoever started it: then nothing is removed,
   * and the next rounds find out whose it is.
   */
  async #removeRemains(record: PodRecord): Promise<void> {
    const {uid} = record;
    const {own, local, isWanted} = this.#options;
    const isOver = await local.unlessBusy(record, async () => {
      const isStillGone = (await local.store.get(uid))?.goneAt !== undefined;
      if (!isStillGone) return true;
      if (isWanted(uid) || !(await local.syncer(record.pod, record.place).removeUnlessLive())) return false;
      await local.forget(record);
      return true;
    });
    if (isOver) own.forget(uid);
  }

  /** What runs under the UID of a pod that is gone is somebody else's, and nothing of the pod is the daemon's any more. */
  async disown(record: PodRecord): Promise<void> {
    const {own, local, logger} = this.#options;
    await local.unlessBusy(record, async () => {
      await local.forget(record);
    });
    own.forget(record.uid);
    const fields = {pod: namespacedName(record), podUID: record.uid};
    logger.info('A pod that is gone was made anew by another program, and is left to it', fields);
  }
}
