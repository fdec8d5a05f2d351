import type {Pod} from '../../../api/types/v1-pod.js';
import {findContainer} from '../../../api/pod-containers.js';
import type {RuntimePodStatus} from '../../contract/runtime-pod-status.js';
import {revertCrashLoopBackOff} from '../../managers/kuberuntime/actions/crash-loop-back-off.js';
import {removeContainer} from '../../managers/kuberuntime/actions/remove-container.js';
import {computeVoidAttempts, type KillContext} from '../../managers/kuberuntime/compute/ending-sandbox.js';
import type {SyncContext} from '../../managers/kuberuntime/sync-context.js';

/**
 * Removes the containers that were started while their sandbox was ending, and reverts their back-offs. Resolves with their
 * IDs; one that could not be removed counts as a restart.
 */
export async function removeVoidAttempts(
  context: SyncContext,
  pod: Pod,
  status: RuntimePodStatus,
  kills: KillContext,
): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const attempt of computeVoidAttempts(status, kills)) {
    const {failure} = await removeContainer(context, pod, attempt);
    if (failure !== undefined) continue;
    removed.push(attempt.id);
    const container = findContainer(pod, attempt.name);
    if (container !== undefined) revertCrashLoopBackOff(context, {pod, status}, container);
  }
  return removed;
}

/** Returns the status without these containers. */
export function withoutContainers(status: RuntimePodStatus, ids: readonly string[]): RuntimePodStatus {
  return {...status, containers: status.containers.filter(({id}) => !ids.includes(id))};
}
