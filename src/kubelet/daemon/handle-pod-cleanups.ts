import {forEachLimit} from '../../base/async/for-each-limit.js';
import type {PodUid} from '../../cri/index.js';
import type {KubeletMetrics} from '../contract/kubelet-metrics.js';
import type {Pleg} from '../contract/pleg.js';
import {isStaticPod} from '../managers/sources/static-pod.js';
import type {PodManager} from '../pods/registry/pod-manager.js';
import type {ManagedPodSyncHandler} from '../pods/workers/managed-pod-sync-handler.js';
import type {PodWorkers} from '../pods/workers/pod-workers.js';

/** Dependencies of PodCleanups. */
export interface PodCleanupsOptions {
  readonly manager: Pick<PodManager, 'get' | 'list'>;
  readonly workers: Pick<PodWorkers, 'update' | 'isKnown' | 'couldHaveRunningContainers'>;
  readonly pods: Pick<ManagedPodSyncHandler, 'allRecords' | 'removeOrphan'>;
  readonly pleg: Pick<Pleg, 'runningPods'>;
  /** Reports whether the node rejected the pod, which then never gets a worker. */
  readonly isRejected: (uid: PodUid) => boolean;
  /** Stops the probes of all pods except those for which `keep` returns true. */
  readonly cleanupProbes?: ((keep: (uid: PodUid) => boolean) => void) | undefined;
  readonly metrics?:
    | Pick<KubeletMetrics, 'podRestarted' | 'orphanedPodFound' | 'orphanedPodsRemoved'>
    | undefined;
}

const ORPHANS_AT_ONCE = 8;
/** Grace period of a pod known only from the runtime, in seconds. */
const ORPHAN_GRACE_SECONDS = 1;

/**
 * Cleans up after pods that are no longer in any source and restarts pods that lost their worker (kubelet_pods.go
 * HandlePodCleanups). Runs with each housekeeping, after the workers know which pods are desired (SyncKnownPods).
 */
export class PodCleanups {
  readonly #options: PodCleanupsOptions;

  constructor(options: PodCleanupsOptions) {
    this.#options = options;
  }

  /** Stops probes and orphaned pods, cleans up after the orphans, and restarts desired pods without a worker. */
  async run(): Promise<void> {
    const {workers, cleanupProbes} = this.#options;
    cleanupProbes?.((uid) => workers.couldHaveRunningContainers(uid));
    await this.#handleOrphans();
    this.#restartPods();
  }

  /** Kills running orphaned pods and cleans up after the others. */
  async #handleOrphans(): Promise<void> {
    const {manager, workers, pods, pleg, metrics} = this.#options;
    const orphans = pods
      .allRecords()
      .filter(({uid}) => manager.get(uid) === undefined && !workers.isKnown(uid));
    const runningPods = new Map(pleg.runningPods().map((pod) => [pod.uid, pod]));
    let [count, failures] = [0, 0];
    await forEachLimit(orphans, ORPHANS_AT_ONCE, async ({uid}) => {
      const running = runningPods.get(uid);
      if (running?.isRunning === true) {
        metrics?.orphanedPodFound();
        workers.update({type: 'kill', running, kill: {gracePeriodSeconds: ORPHAN_GRACE_SECONDS}});
      } else {
        count += 1;
        if (!(await pods.removeOrphan(uid))) failures += 1;
      }
    });
    metrics?.orphanedPodsRemoved(count, failures);
  }

  #restartPods(): void {
    const {manager, workers, isRejected, metrics} = this.#options;
    for (const {uid, pod} of manager.list()) {
      if (workers.isKnown(uid) || isRejected(uid)) continue;
      workers.update({type: 'create', pod});
      metrics?.podRestarted(isStaticPod(pod));
    }
  }
}
