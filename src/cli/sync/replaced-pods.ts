import {belongsTo, type WorkloadRef} from '../../api/workloads/workload-of-pod.js';
import type {ForegroundSyncResult, PodRegistry} from '../../kubelet/index.js';
import type {LoadedServices} from '../pods/load-pods.js';
import {selectReplacedPods, type CurrentWorkloads} from '../pods/select-replaced-pods.js';
import {createPodLeftError} from './pod-outcome.js';
import type {SyncRenderer} from './view/sync-renderer.js';

/** Workloads of a sync and all the pods that they have now. */
export interface SyncedWorkloads extends CurrentWorkloads {
  readonly services?: LoadedServices | undefined;
}

/** Reports whether a workload's new pods have met the wait condition, so that its others are no longer needed. */
function isComplete(
  ref: WorkloadRef,
  {pods}: SyncedWorkloads,
  outcomes: readonly ForegroundSyncResult[],
): boolean {
  const uids = new Set(pods.filter(({pod}) => belongsTo(pod, ref)).map(({pod}) => pod.metadata.uid));
  return outcomes
    .filter(({pod}) => uids.has(pod.uid))
    .every(({kind}) => kind === 'ready' || kind === 'complete');
}

/**
 * Deletes the pods that the workloads no longer want; returns the errors to report. A workload keeps its previous pods
 * until all new ones are ready.
 */
export async function removeReplacedPods(
  registry: PodRegistry,
  synced: SyncedWorkloads,
  outcomes: readonly ForegroundSyncResult[],
  renderer: SyncRenderer,
): Promise<readonly unknown[]> {
  if (synced.workloads.length === 0) return [];
  const {records} = await registry.store.list();
  const replaced = selectReplacedPods(records, synced, (workload) => isComplete(workload, synced, outcomes));
  // All at once: one after the other, each would take its grace period.
  const errors = await Promise.all(
    replaced.map(async ({record, reason}) => {
      try {
        synced.services?.local.remove(record.uid);
        await registry.locks.withPodLock(record, undefined, async () => registry.remover.deletePod(record));
        renderer.note(record, `deleted (${reason})`);
        return [];
      } catch (error) {
        return [error, createPodLeftError(record, `is not removed; it is ${reason}`)];
      }
    }),
  );
  return errors.flat();
}
