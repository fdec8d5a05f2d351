import {concurrently} from '../base/concurrently.js';
import type {Logger} from '../base/logger.js';
import type {PodUid} from '../cri/index.js';
import {namespacedName} from './container/pod-ref.js';
import type {RuntimePodStatus} from './container/pod-status.js';
import {deadContainers, planGarbage, type ContainerGcPolicy, type Garbage} from './kuberuntime/garbage.js';
import type {OwnPods} from './own-pods.js';

/** Which dead containers stay. */
export interface GarbageRules {
  readonly policy: ContainerGcPolicy;
  readonly now: number;
  /** Nobody wants the pod any more. */
  readonly isUnwanted: (uid: PodUid) => boolean;
}

/** What the removal of garbage needs. */
export interface PodGarbageOptions {
  readonly own: OwnPods;
  /** What runs of a pod, as last seen; undefined when it could not be looked at. */
  readonly lastSeen: (uid: PodUid) => RuntimePodStatus | undefined;
  /** Whether all that is left of the pod is being removed. */
  readonly isRemoved: (uid: PodUid) => boolean;
  readonly logger: Logger;
}

const NO_GARBAGE: Garbage = {containers: [], sandboxes: []};
const PODS_AT_ONCE = 8;

/** Removes the dead containers and sandboxes that nobody needs of pods that are there (pod_container_deletor.go). */
export class PodGarbage {
  readonly #options: PodGarbageOptions;
  /** The last removal of each pod of which something is being removed; never rejects. */
  readonly #rounds = new Map<PodUid, Promise<void>>();

  constructor(options: PodGarbageOptions) {
    this.#options = options;
  }

  /** Removes older instances of a container of the pod that has died. Never rejects. */
  async removeDead(uid: PodUid, {policy, isUnwanted}: GarbageRules): Promise<void> {
    const status = this.#options.lastSeen(uid);
    if (status === undefined) return;
    const containers = deadContainers({status, isUnwanted: isUnwanted(uid)}, policy);
    await this.#remove(uid, {containers, sandboxes: []});
  }

  /** Removes what of all pods nobody needs any more. Never rejects. */
  async collect({policy, now, isUnwanted}: GarbageRules): Promise<void> {
    const seen = this.#options.own.owned().flatMap(({uid}) => {
      const status = this.#options.lastSeen(uid);
      return status === undefined ? [] : [{uid, status, isUnwanted: isUnwanted(uid)}];
    });
    const garbage = planGarbage(seen, policy, now);
    const work = seen.map(({uid}, index) => ({uid, garbage: garbage[index] ?? NO_GARBAGE}));
    await concurrently(work, PODS_AT_ONCE, async (pod) => this.#remove(pod.uid, pod.garbage));
  }

  /** One round after the other: runtimes refuse to remove what is just being removed. */
  async #remove(uid: PodUid, garbage: Garbage): Promise<void> {
    if (garbage.containers.length + garbage.sandboxes.length === 0) return;
    const before = this.#rounds.get(uid) ?? Promise.resolve();
    const round = before.then(() => this.#removeNow(uid, garbage));
    this.#rounds.set(uid, round);
    await round;
    if (this.#rounds.get(uid) === round) this.#rounds.delete(uid);
  }

  /** What fails is told, and tried again with the next round. The pod may have gone since the round before. */
  async #removeNow(uid: PodUid, garbage: Garbage): Promise<void> {
    const {own, isRemoved, logger} = this.#options;
    const record = own.present(uid);
    if (record === undefined || isRemoved(uid)) return;
    try {
      await own.syncerOf(record).removeGarbage(garbage);
    } catch (error) {
      logger.error(error, 'Failed to remove dead containers', {pod: namespacedName(record), podUID: uid});
    }
  }
}
