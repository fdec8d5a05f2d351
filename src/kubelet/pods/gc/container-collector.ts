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

/** Removals of one pod that are in progress. */
interface Rounds {
  /** End of the last round; never rejects. */
  last: Promise<void>;
  /** IDs of containers and sandboxes that these rounds have removed, which later rounds may still list. */
  readonly removed: Set<string>;
}

const NO_GARBAGE: ContainerGcActions = {containers: [], sandboxes: []};
const PODS_AT_ONCE = 8;

/** Removes dead containers and sandboxes of managed pods (pod_container_deletor.go, kuberuntime_gc.go). */
export class ContainerCollector {
  readonly #options: ContainerCollectorOptions;
  readonly #logger: FileLogger;
  readonly #rounds = new Map<PodUid, Rounds>();

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
    await this.#rounds.get(uid)?.last;
  }

  /**
   * Removes the containers and sandboxes, one round at a time per pod: runtimes reject a removal while another one is
   * in progress.
   */
  async #remove(uid: PodUid, garbage: ContainerGcActions): Promise<void> {
    if (isEmpty(garbage)) return;
    const rounds = this.#rounds.get(uid) ?? {last: Promise.resolve(), removed: new Set()};
    const round = rounds.last.then(() => this.#removeNow(uid, garbage, rounds.removed));
    rounds.last = round;
    this.#rounds.set(uid, rounds);
    await round;
    if (rounds.last === round) this.#rounds.delete(uid);
  }

  /**
   * Removes the containers and sandboxes that the previous rounds have not removed, unless the pod was removed since.
   * Logs failures, which the next round retries.
   */
  async #removeNow(uid: PodUid, garbage: ContainerGcActions, removed: Set<string>): Promise<void> {
    const {own, isRemoved} = this.#options;
    const record = own.getPresent(uid);
    if (record === undefined || isRemoved(uid)) return;
    const containers = garbage.containers.filter(({id}) => !removed.has(id));
    const sandboxes = garbage.sandboxes.filter((id) => !removed.has(id));
    if (isEmpty({containers, sandboxes})) return;
    try {
      await own.ensureSyncer(record).removeGarbage({containers, sandboxes});
      for (const id of [...containers.map((container) => container.id), ...sandboxes]) removed.add(id);
    } catch (error) {
      this.#logger.error(error, 'Failed to remove dead containers', {
        pod: namespacedName(record),
        podUID: uid,
      });
    }
  }
}

function isEmpty({containers, sandboxes}: ContainerGcActions): boolean {
  return containers.length + sandboxes.length === 0;
}
