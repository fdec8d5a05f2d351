import type {Pod} from '../../api/v1.js';
import {messageOf} from '../../base/errors.js';
import {isNotFound} from '../../cri/index.js';
import type {RuntimePodStatus} from '../container/pod-status.js';
import type {SyncResult} from '../container/sync-result.js';
import {killContainer, type KillContext} from './kill-container.js';
import {restoredContainer} from './restored-container.js';
import {TerminationOrder} from './termination-order.js';

/**
 * Ends every running container at once, sidecars after the others, then every sandbox of the pod
 * (killPodWithSyncResult); with `gracePeriodSeconds` instead of the containers' own grace periods. The sandboxes are
 * stopped even when a container could not be. Only aborting the signal rejects.
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
      const restored = restoredContainer(instance);
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
