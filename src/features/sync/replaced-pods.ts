import {belongsTo, type WorkloadRef} from '../../api/workloads/workload-of-pod.js';
import type {ForegroundSyncResult, PodRegistry} from '../../kubelet/index.js';
import type {LoadedPods, LoadedServices} from '../manifests/load-pods.js';
import {selectReplacedPods, type CurrentWorkloads} from '../manifests/select-replaced-pods.js';
import {createPodLeftError} from './pod-outcome.js';
import {selectPrunedPods, type PruneScope} from './prune-scope.js';
import type {SyncRenderer} from './view/sync-renderer.js';

/** Workloads of a sync and all the pods that they have now. */
export interface SyncedWorkloads extends CurrentWorkloads, Pick<LoadedPods, 'documents'> {
  readonly services?: LoadedServices | undefined;
}

/** Reports whether a workload's new pods have met the wait condition, so that its others are no longer needed. */
function isComplete(
  ref: WorkloadRef,
  {pods}: SyncedWorkloads,
  outcomes: readonly ForegroundSyncResult[],
): boolean {
  const uids = new Set(pods.filter(({pod}) => belongsTo(pod, ref)).map(({pod}) => pod.metadata.uid));
  return outcomes.filter(({pod}) => uids.has(pod.uid)).every(hasMet);
}

function hasMet({kind}: ForegroundSyncResult): boolean {
  return kind === 'ready' || kind === 'complete';
}

/**
 * Deletes the pods that the workloads no longer want, and those that a prune deletes; returns the errors to report. A
 * workload keeps its previous pods until all new ones are ready; a prune needs the success of all pods.
 */
export async function removeReplacedPods(
  registry: PodRegistry,
  synced: SyncedWorkloads,
  outcomes: readonly ForegroundSyncResult[],
  {renderer, prune}: {readonly renderer: SyncRenderer; readonly prune?: PruneScope | undefined},
): Promise<readonly unknown[]> {
  if (synced.workloads.length === 0 && prune === undefined) return [];
  const {records} = await registry.store.list();
  const replaced = selectReplacedPods(records, synced, (workload) => isComplete(workload, synced, outcomes));
  const pruned = outcomes.every(hasMet) ? selectPrunedPods(records, synced, prune) : [];
  // All at once: one after the other, each would take its grace period.
  const errors = await Promise.all(
    [...replaced, ...pruned].map(async ({record, reason}) => {
      try {
        synced.services?.local.remove(record.uid);
        await registry.locks.withPodLock(record, undefined, async () => registry.remover.deletePod(record));
        renderer.note(record, `deleted (${reason})`);
        return [];
      } catch (error) {
        return [error, createPodLeftError(record, `was kept, although it is ${reason}`)];
      }
    }),
  );
  return errors.flat();
}
