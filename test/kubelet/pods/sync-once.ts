import {hasEnded} from '../../../src/api/types/v1-status.js';
import {isLive} from '../../../src/kubelet/contract/runtime-pod-status.js';
import type {PodSyncer, SyncPass} from '../../../src/kubelet/pods/sync/pod-syncer.js';

const GRACE_SECONDS = 2;

/**
 * Does the work of a pod worker for one sync: reads the runtime, syncs the pod, and terminates it if it has
 * ended. Resolves with the results and the status after them.
 */
export async function syncOnce(
  syncer: PodSyncer,
  signal: AbortSignal = new AbortController().signal,
  syncFrequencyMs = 60_000,
): Promise<SyncPass> {
  const {runtime} = await syncer.observe(signal);
  const {status, results} = await syncer.syncPod(runtime, {
    networkError: undefined,
    resizeReview: undefined,
    syncFrequencyMs,
    signal,
  });
  if (hasEnded(status.phase)) {
    if (isLive(runtime))
      await syncer.syncTerminatingPod(runtime, {gracePeriodSeconds: GRACE_SECONDS, signal});
    else await syncer.syncTerminatedPod(runtime);
  }
  await syncer.flush();
  return {...(await syncer.observe()), results};
}
