import type {Pod} from '../../../../api/types/v1-pod.js';
import {messageOf} from '../../../../base/errors.js';
import {isNotFound} from '../../../../cri/index.js';
import type {RuntimePodStatus} from '../../../contract/runtime-pod-status.js';
import type {SyncResult} from '../../../contract/sync-result.js';
import {killContainer, type KillContext} from './kill-container.js';
import {restoreContainerSpec} from '../restore-container-spec.js';
import {TerminationOrder} from './termination-order.js';

/**
 * Kills all running containers of a pod in parallel, sidecars last, and then stops its sandboxes
 * (killPodWithSyncResult). `gracePeriodSeconds` overrides the containers' own grace periods. The sandboxes are stopped
 * even if a container could not be. Rejects only with the signal's reason.
 */
export async function killPod(
  context: KillContext,
  pod: Pod,
  status: RuntimePodStatus,
  gracePeriodSeconds?: number,
): Promise<readonly SyncResult[]> {
  const running = status.containers.filter(({state}) => state === 'CONTAINER_RUNNING');
  const names = running.map(({name}) => name);
  const order = new TerminationOrder(pod, names, context.clock);
  const killed = await Promise.all(
    running.map(async (instance) => {
      const {id, name} = instance;
      const restored = restoreContainerSpec(instance);
      return await killContainer(context, pod, {id, name, gracePeriodSeconds, restored, order});
    }),
  );
  return [...killed, ...(await stopSandboxes(context, status))];
}

async function stopSandboxes(
  {runtime, signal}: KillContext,
  {sandboxes}: RuntimePodStatus,
): Promise<readonly SyncResult[]> {
  const stopped: SyncResult[] = [];
  for (const {id, metadata} of sandboxes) {
    const action = 'KillPodSandbox';
    const target = metadata?.uid ?? id;
    try {
      await runtime.stopPodSandbox({podSandboxId: id}, {signal});
      stopped.push({action, target});
    } catch (cause) {
      signal.throwIfAborted();
      const message = messageOf(cause);
      if (!isNotFound(cause))
        stopped.push({action, target, failure: {reason: 'KillPodSandboxError', message, cause}});
    }
  }
  return stopped;
}
