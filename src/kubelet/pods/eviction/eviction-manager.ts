import type {Pod} from '../../../api/types/v1-pod.js';
import type {PodStatus} from '../../../api/types/v1-status.js';
import {forEachLimit} from '../../../base/async/for-each-limit.js';
import type {FileLogger, Logger} from '../../../base/logger.js';
import type {PodUid} from '../../../cri/index.js';
import type {KubeletMetrics} from '../../contract/kubelet-metrics.js';
import {namespacedName, podRef} from '../../contract/pod-ref.js';
import {GRACE_SECONDS, type EvictPod} from './eviction.js';
import type {NodePressureManager} from './node-pressure-manager.js';

/** Reason why a pod is evicted. */
export interface PodEviction {
  /** Name of the eviction signal in metrics (signalEmptyDirFsLimit and others). */
  readonly signal: 'emptydirfs.limit' | 'ephemeralpodfs.limit' | 'ephemeralcontainerfs.limit';
  /** Final status of the pod. */
  readonly status: Pick<PodStatus, 'phase' | 'reason' | 'message'>;
}

/** Dependencies of an EvictionManager. */
export interface EvictionManagerOptions {
  /** Resolves with the reason if the pod must be evicted, and reports it as an event. */
  readonly findEviction: (uid: PodUid) => Promise<PodEviction | undefined>;
  /** Kills a pod with a grace period and changes its final status. */
  readonly evictPod: EvictPod;
  /** Evicts pods of a node that lacks a resource; without it, only the limits of pods count. */
  readonly nodePressure?: Pick<NodePressureManager, 'synchronize'> | undefined;
  /** Aborts when the kubelet stops. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly metrics?: Pick<KubeletMetrics, 'podEvicted'> | undefined;
}

const PODS_AT_ONCE = 8;

/**
 * Evicts pods that exceed limits of their local storage (eviction_manager.go localStorageEviction), and if there are none,
 * pods of a node under pressure.
 */
export class EvictionManager {
  readonly #options: EvictionManagerOptions;
  readonly #logger: FileLogger;
  #isRunning = false;

  constructor(options: EvictionManagerOptions) {
    this.#options = options;
    this.#logger = options.logger.forFile('eviction-manager.ts');
  }

  /** Checks the active pods, unless a check is in progress. Never rejects. */
  async synchronize(active: readonly Pod[]): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    const {nodePressure, signal} = this.#options;
    try {
      let evicted = 0;
      await forEachLimit(active, PODS_AT_ONCE, async (pod) => {
        if (await this.evictIfNeeded(pod)) evicted += 1;
      });
      if (evicted === 0) await nodePressure?.synchronize(active, signal);
    } finally {
      this.#isRunning = false;
    }
  }

  /** Evicts the pod if it exceeds a limit, and resolves with whether it did. Never rejects. */
  async evictIfNeeded(pod: Pod): Promise<boolean> {
    const {findEviction, evictPod, metrics} = this.#options;
    const ref = podRef(pod);
    try {
      const eviction = await findEviction(ref.uid);
      if (eviction === undefined) return false;
      metrics?.podEvicted(eviction.signal);
      const status = (current: PodStatus): PodStatus => ({...current, ...eviction.status});
      evictPod(pod, {gracePeriodSeconds: GRACE_SECONDS, status});
      return true;
    } catch (error) {
      this.#logger.error(error, 'Eviction manager: failed to measure the storage of a pod', {
        pod: namespacedName(ref),
      });
      return false;
    }
  }
}
