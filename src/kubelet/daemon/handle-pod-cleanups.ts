import type {BackgroundWork} from '../../base/async/background-work.js';
import {CallLimiter} from '../../base/async/call-limiter.js';
import type {Clock} from '../../base/clock.js';
import type {PodUid} from '../../cri/index.js';
import type {KubeletMetrics} from '../contract/kubelet-metrics.js';
import type {Pleg} from '../contract/pleg.js';
import {isStaticPod} from '../sources/static-pod.js';
import type {PodManager} from '../pods/registry/pod-manager.js';
import type {ManagedPodSyncHandler} from '../pods/workers/managed-pod-sync-handler.js';
import type {PodWorkers} from '../pods/workers/pod-workers.js';
import type {PodErrorBoundary} from './pod-error-boundary.js';

/** Dependencies of PodCleanups. */
export interface PodCleanupsOptions {
  readonly manager: Pick<PodManager, 'get' | 'list'>;
  readonly workers: Pick<PodWorkers, 'update' | 'isKnown' | 'couldHaveRunningContainers'>;
  readonly pods: Pick<ManagedPodSyncHandler, 'allRecords' | 'removeOrphan'>;
  readonly pleg: Pick<Pleg, 'runningPods'>;
  readonly boundary: Pick<PodErrorBoundary, 'run' | 'isAddPending'>;
  /** Reports whether the node rejected the pod, which then never gets a worker. */
  readonly isRejected: (uid: PodUid) => boolean;
  /** Stops the probes of all pods except those for which `keep` returns true. */
  readonly cleanupProbes?: ((keep: (uid: PodUid) => boolean) => void) | undefined;
  readonly metrics?:
    | Pick<KubeletMetrics, 'podRestarted' | 'orphanedPodFound' | 'orphanedPodsRemoved'>
    | undefined;
  /** Owner of the removals. */
  readonly background: BackgroundWork;
  readonly clock: Clock;
}

/** Removals at a time. One that takes longer than the patience holds up no others. */
const ORPHANS_AT_ONCE = {concurrency: 8, patienceMs: 10_000};
/** Grace period of a pod known only from the runtime, in seconds. */
const ORPHAN_GRACE_SECONDS = 1;

/**
 * Cleans up after pods that are no longer in any source and restarts pods that lost their worker (kubelet_pods.go
 * HandlePodCleanups). Runs with each housekeeping, after the workers know which pods are desired (SyncKnownPods).
 */
export class PodCleanups {
  readonly #options: PodCleanupsOptions;
  readonly #limiter: CallLimiter;
  /** Orphaned pods whose removal waits or is in progress. */
  readonly #removing = new Set<PodUid>();

  constructor(options: PodCleanupsOptions) {
    this.#options = options;
    this.#limiter = new CallLimiter(ORPHANS_AT_ONCE, options.clock);
  }

  /**
   * Stops probes and orphaned pods, starts the removal of those that do not run, and restarts desired pods without a
   * worker.
   */
  run(): void {
    const {workers, cleanupProbes} = this.#options;
    cleanupProbes?.((uid) => workers.couldHaveRunningContainers(uid));
    this.#handleOrphans();
    this.#restartPods();
  }

  /** Kills running orphaned pods and starts to clean up after the others. */
  #handleOrphans(): void {
    const {manager, workers, pods, pleg, metrics, background} = this.#options;
    const orphans = pods
      .allRecords()
      .filter(({uid}) => manager.get(uid) === undefined && !workers.isKnown(uid));
    const runningPods = new Map(pleg.runningPods().map((pod) => [pod.uid, pod]));
    const dead: PodUid[] = [];
    for (const {uid} of orphans) {
      const running = runningPods.get(uid);
      if (running?.isRunning === true) {
        metrics?.orphanedPodFound();
        workers.update({type: 'kill', running, kill: {gracePeriodSeconds: ORPHAN_GRACE_SECONDS}});
      } else if (!this.#removing.has(uid)) dead.push(uid);
    }
    background.start('orphaned pod cleanup', this.#removeAll(dead));
  }

  async #removeAll(uids: readonly PodUid[]): Promise<void> {
    const results = await Promise.all(uids.map(async (uid) => this.#remove(uid)));
    this.#options.metrics?.orphanedPodsRemoved(results.length, results.filter((isDone) => !isDone).length);
  }

  /** Removes an orphaned pod when its turn comes, and resolves with whether no step of it failed. */
  async #remove(uid: PodUid): Promise<boolean> {
    this.#removing.add(uid);
    try {
      return await this.#limiter.run(0, async () => {
        // The pod may have been created again meanwhile.
        const {manager, workers, pods} = this.#options;
        return manager.get(uid) !== undefined || workers.isKnown(uid) || (await pods.removeOrphan(uid));
      });
    } finally {
      this.#removing.delete(uid);
    }
  }

  #restartPods(): void {
    const {manager, workers, boundary, isRejected, metrics} = this.#options;
    for (const desired of manager.list()) {
      const {uid, pod} = desired;
      if (workers.isKnown(uid) || isRejected(uid) || boundary.isAddPending(uid)) continue;
      boundary.run('SYNC', desired, () => {
        workers.update({type: 'create', pod});
        metrics?.podRestarted(isStaticPod(pod));
      });
    }
  }
}
