import {belongsTo, type WorkloadRef} from '../../api/workloads/workload-of-pod.js';
import {createPodLeftError} from './pod-outcome.js';
import type {SyncRenderer} from './view/sync-renderer.js';
import type {ForegroundSyncResult, PodRecord, PodRegistry, PreparedPod} from '../../kubelet/index.js';
import type {LoadedServices} from '../pods/load-pods.js';

/** Workloads of a sync and all the pods that they have now. */
export interface SyncedWorkloads {
  readonly services?: LoadedServices | undefined;
  readonly workloads: readonly WorkloadRef[];
  readonly pods: readonly PreparedPod[];
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
 * Returns the pods of the workloads that they no longer want, because the template or the number of replicas has
 * changed. A workload keeps its previous pods until all new ones are ready.
 */
async function findReplacedPods(
  registry: PodRegistry,
  synced: SyncedWorkloads,
  outcomes: readonly ForegroundSyncResult[],
): Promise<readonly PodRecord[]> {
  const complete = synced.workloads.filter((ref) => isComplete(ref, synced, outcomes));
  if (complete.length === 0) return [];
  const wanted = new Set(synced.pods.map(({pod}) => pod.metadata.uid));
  const {records} = await registry.store.list();
  return records.filter(
    ({uid, pod, manager}) =>
      manager === undefined && !wanted.has(uid) && complete.some((ref) => belongsTo(pod, ref)),
  );
}

/** Deletes the pods that the workloads no longer want; returns the errors to report. */
export async function removeReplacedPods(
  registry: PodRegistry,
  synced: SyncedWorkloads,
  outcomes: readonly ForegroundSyncResult[],
  renderer: SyncRenderer,
): Promise<readonly unknown[]> {
  const errors: unknown[] = [];
  for (const record of await findReplacedPods(registry, synced, outcomes)) {
    try {
      synced.services?.local.remove(record.uid);
      await registry.locks.withPodLock(record, undefined, async () => registry.remover.deletePod(record));
      renderer.note(record, 'is deleted: its workload has changed');
    } catch (error) {
      errors.push(error, createPodLeftError(record, 'is not removed; its workload has changed'));
    }
  }
  return errors;
}
