import {forEachLimit} from '../../../base/async/for-each-limit.js';
import type {FileLogger, Logger} from '../../../base/logger.js';
import type {PodUid} from '../../../cri/index.js';
import {namespacedName} from '../../contract/pod-ref.js';
import type {RuntimePodStatus} from '../../contract/runtime-pod-status.js';
import type {ContainerGcActions} from '../../contract/container-gc-actions.js';
import {
  computeContainersToDelete,
  computeContainerGcActions,
  type ContainerGcPolicy,
} from './container-gc.js';
import type {ManagedPodSet} from '../registry/managed-pod-set.js';

/** Rules of one round of container GC. */
export interface ContainerGcRules {
  readonly policy: ContainerGcPolicy;
  readonly now: number;
  /** Reports whether everything that the pod has in the runtime may be removed. */
  readonly isUnwanted: (uid: PodUid) => boolean;
}

/** Dependencies of ContainerCollector. */
export interface ContainerCollectorOptions {
  readonly own: ManagedPodSet;
  /** Returns the last runtime status of a pod; undefined if it could not be read. */
  readonly lastSeen: (uid: PodUid) => RuntimePodStatus | undefined;
  /** Reports whether the whole pod is being removed. */
  readonly isRemoved: (uid: PodUid) => boolean;
  readonly logger: Logger;
}

const NO_GARBAGE: ContainerGcActions = {containers: [], sandboxes: []};
const PODS_AT_ONCE = 8;

/** Removes dead containers and sandboxes of managed pods (pod_container_deletor.go, kuberuntime_gc.go). */
export class ContainerCollector {
  readonly #options: ContainerCollectorOptions;
  readonly #logger: FileLogger;
  /** Last removal of each pod that has one in progress; never rejects. */
  readonly #rounds = new Map<PodUid, Promise<void>>();

  constructor(options: ContainerCollectorOptions) {
    this.#options = options;
    this.#logger = options.logger.forFile('container-collector.ts');
  }

  /** Removes older dead instances of the pod's containers. Never rejects. */
  async removeDeadContainers(uid: PodUid, {policy, isUnwanted}: ContainerGcRules): Promise<void> {
    const status = this.#options.lastSeen(uid);
    if (status === undefined) return;
    const containers = computeContainersToDelete({status, isUnwanted: isUnwanted(uid)}, policy);
    await this.#remove(uid, {containers, sandboxes: []});
  }

  /** Removes dead containers and sandboxes of all pods. Never rejects. */
  async collect({policy, now, isUnwanted}: ContainerGcRules): Promise<void> {
    const seen = this.#options.own.presentRecords().flatMap(({uid}) => {
      const status = this.#options.lastSeen(uid);
      return status === undefined ? [] : [{uid, status, isUnwanted: isUnwanted(uid)}];
    });
    const garbage = computeContainerGcActions(seen, policy, now);
    const work = seen.map(({uid}, index) => ({uid, garbage: garbage[index] ?? NO_GARBAGE}));
    await forEachLimit(work, PODS_AT_ONCE, async (pod) => this.#remove(pod.uid, pod.garbage));
  }

  /** Resolves when nothing of the pod is being removed. */
  async waitForRemovals(uid: PodUid): Promise<void> {
    await this.#rounds.get(uid);
  }

  /**
   * Removes the containers and sandboxes, one round at a time per pod: runtimes reject a removal while another one is
   * in progress.
   */
  async #remove(uid: PodUid, garbage: ContainerGcActions): Promise<void> {
    if (garbage.containers.length + garbage.sandboxes.length === 0) return;
    const before = this.#rounds.get(uid) ?? Promise.resolve();
    const round = before.then(() => this.#removeNow(uid, garbage));
    this.#rounds.set(uid, round);
    await round;
    if (this.#rounds.get(uid) === round) this.#rounds.delete(uid);
  }

  /**
   * Removes the containers and sandboxes unless the pod was removed since the previous round. Logs failures, which the
   * next round retries.
   */
  async #removeNow(uid: PodUid, garbage: ContainerGcActions): Promise<void> {
    const {own, isRemoved} = this.#options;
    const record = own.getPresent(uid);
    if (record === undefined || isRemoved(uid)) return;
    try {
      await own.ensureSyncer(record).removeGarbage(garbage);
    } catch (error) {
      this.#logger.error(error, 'Failed to remove dead containers', {
        pod: namespacedName(record),
        podUID: uid,
      });
    }
  }
}
