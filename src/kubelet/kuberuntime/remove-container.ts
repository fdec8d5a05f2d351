import type {Pod} from '../../api/v1.js';
import {messageOf} from '../../base/errors.js';
import {isNotFound} from '../../cri/index.js';
import type {PodActions} from '../container/pod-actions.js';
import type {RuntimeContainerStatus, RuntimePodStatus} from '../container/pod-status.js';
import type {SyncResult} from '../container/sync-result.js';
import {isInitContainer} from './kill-container.js';
import type {SyncContext} from './sync-context.js';

type RemoveContext = Pick<SyncContext, 'services' | 'files'>;

/** Removes one instance and, unless they are kept, its log files (kuberuntime removeContainer). */
export async function removeContainer(
  {services, files}: RemoveContext,
  pod: Pod,
  {id, name, restartCount}: RuntimeContainerStatus,
  {keepLogs = false}: {readonly keepLogs?: boolean} = {},
): Promise<SyncResult> {
  try {
    if (!keepLogs) await files.removeContainerLogs(pod, name, restartCount);
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

export function isDead({state}: RuntimeContainerStatus): boolean {
  return state === 'CONTAINER_EXITED' || state === 'CONTAINER_UNKNOWN';
}

/** All but the newest dead instance of each container that passes the filter. */
export function olderDead(
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
 * Gives what was removed. What could not be is no failure of a sync: a kubelet only logs it, and the instances that
 * are left are found again by the next clean-up.
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

/** Before init containers run again, only the newest dead instance of each is kept (pruneInitContainersBeforeStart). */
export async function pruneInitContainers(
  context: RemoveContext,
  pod: Pod,
  status: RuntimePodStatus,
  actions: PodActions,
): Promise<readonly SyncResult[]> {
  // A new sandbox has purged them all.
  if (actions.killPod) return [];
  return await removeAll(
    context,
    pod,
    olderDead(status, (name) => isInitContainer(pod, name)),
  );
}

/** With a new sandbox every init container runs anew: all their instances go (purgeInitContainers). */
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

/** A status without older instances, and those that were removed. */
export interface Cleaned {
  readonly status: RuntimePodStatus;
  readonly results: readonly SyncResult[];
}

/**
 * Of each container one dead instance is kept for its logs and last state; older ones go
 * (pod_container_deletor.go, --maximum-dead-containers-per-container=1).
 */
export async function removeOlderInstances(
  context: RemoveContext,
  pod: Pod,
  status: RuntimePodStatus,
): Promise<Cleaned> {
  const older = new Set(olderDead(status, () => true));
  if (older.size === 0) return {status, results: []};
  const results = await removeAll(context, pod, [...older]);
  return {status: {...status, containers: status.containers.filter((item) => !older.has(item))}, results};
}
