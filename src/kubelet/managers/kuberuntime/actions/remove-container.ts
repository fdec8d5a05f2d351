import type {Pod} from '../../../../api/types/v1-pod.js';
import {messageOf} from '../../../../base/errors.js';
import {isNotFound} from '../../../../cri/index.js';
import type {PodActions} from '../../../contract/pod-actions.js';
import type {CreatedContainer} from '../../../contract/pod-filesystem.js';
import type {RuntimeContainerStatus, RuntimePodStatus} from '../../../contract/runtime-pod-status.js';
import type {SyncResult} from '../../../contract/sync-result.js';
import {isInitContainer} from './kill-container.js';
import type {SyncContext} from '../sync-context.js';

type RemoveContext = Pick<SyncContext, 'services' | 'files' | 'nodeManagers'>;

/**
 * Removes a container instance and, unless `keepLogs` is set, its log files (kuberuntime removeContainer). Never
 * rejects.
 */
export async function removeContainer(
  {services, files, nodeManagers}: RemoveContext,
  pod: Pod,
  container: CreatedContainer,
  {keepLogs = false}: {readonly keepLogs?: boolean} = {},
): Promise<SyncResult> {
  const {id, name} = container;
  nodeManagers.containerRemoved(id);
  try {
    if (!keepLogs) await files.removeContainerLogs(pod, container);
    await services.runtime.removeContainer({containerId: id});
  } catch (cause) {
    if (!isNotFound(cause))
      return {
        action: 'RemoveContainer',
        target: name,
        failure: {reason: 'RemoveContainerError', message: messageOf(cause), cause},
      };
  }
  return {action: 'RemoveContainer', target: name};
}

/** Reports whether an instance has exited or is in an unknown state. */
export function isDead({state}: RuntimeContainerStatus): boolean {
  return state === 'CONTAINER_EXITED' || state === 'CONTAINER_UNKNOWN';
}

/** Returns the dead instances of each container that passes the filter, without the newest dead one. */
export function findOlderDeadInstances(
  status: RuntimePodStatus,
  filter: (name: string) => boolean,
): readonly RuntimeContainerStatus[] {
  const seen = new Set<string>();
  return status.containers.filter((container) => {
    if (!isDead(container) || !filter(container.name)) return false;
    const older = seen.has(container.name);
    seen.add(container.name);
    return older;
  });
}

/**
 * Removes instances and returns the successful results. A failed removal does not fail the sync, as in the kubelet,
 * which only logs it: the next clean-up finds the instance again.
 */
async function removeAll(
  context: RemoveContext,
  pod: Pod,
  containers: readonly RuntimeContainerStatus[],
): Promise<readonly SyncResult[]> {
  const results: SyncResult[] = [];
  for (const container of containers) results.push(await removeContainer(context, pod, container));
  return results.filter(({failure}) => failure === undefined);
}

/** Removes older dead instances of init containers before they run again (pruneInitContainersBeforeStart). */
export async function pruneInitContainers(
  context: RemoveContext,
  pod: Pod,
  status: RuntimePodStatus,
  actions: PodActions,
): Promise<readonly SyncResult[]> {
  // purgeInitContainers has removed them all.
  if (actions.killPod) return [];
  return await removeAll(
    context,
    pod,
    findOlderDeadInstances(status, (name) => isInitContainer(pod, name)),
  );
}

/** Removes all instances of init containers, because they run again in a new sandbox (purgeInitContainers). */
export async function purgeInitContainers(
  context: RemoveContext,
  pod: Pod,
  status: RuntimePodStatus,
): Promise<readonly SyncResult[]> {
  return await removeAll(
    context,
    pod,
    status.containers.filter((container) => isInitContainer(pod, container.name)),
  );
}
