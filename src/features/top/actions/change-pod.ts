import {containerId, type Connection} from '../../../cri/index.js';
import {removeContainer} from '../../../operations/containers/remove-container.js';
import {removeSandbox} from '../../../operations/pods/remove-sandbox.js';
import type {RuntimeContext} from '../../../cli/command/contexts.js';
import {deleteListedPod} from '../../delete/delete-pods.js';
import type {ShownPod} from '../../pods/listed-pod.js';
import {removeContainerLogs} from '../../logs/remove-container-logs.js';
import {itemTitle, type TopItem} from '../model/top-item.js';

/** Row to act on, with its pod and its containers. */
export interface ActionTarget {
  readonly item: TopItem;
  readonly shown: ShownPod;
  /** The container of the row, or all containers of the pod. */
  readonly containers: readonly TopItem[];
  readonly connection: Connection;
}

/** Deletes what a row shows, as `kcri delete`, `rmp -f` and `rm -f` do. Rejects with KcriError. */
export async function deleteTarget(services: RuntimeContext, target: ActionTarget): Promise<void> {
  const {item, shown, connection} = target;
  const {signal} = services;
  if (item.manager === 'kcri') await deleteListedPod(services, shown.listed);
  else if (item.kind === 'pod')
    for (const {id} of shown.listed.inRuntime?.sandboxes ?? [])
      await removeSandbox(connection.runtime, id, {shown: itemTitle(item), force: true, signal});
  else
    await removeContainer(connection.runtime, containerId(item.containerId ?? ''), {
      shown: itemTitle(item),
      force: true,
      onRemoved: async (container) => {
        await removeContainerLogs(services, container, () => undefined);
      },
      signal,
    });
}
