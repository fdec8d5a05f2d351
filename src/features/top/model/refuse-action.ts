import type {TopItem} from './top-item.js';
import type {ConfirmedAction} from './top-state.js';

/** Returns why an action is not possible on a row; undefined if it is. */
export function refuseAction(
  action: ConfirmedAction,
  {kind, manager, namespace, node, pod}: TopItem,
): string | undefined {
  if (action === 'restart') return undefined;
  if (manager === 'kubelet')
    return `the kubelet of ${node ?? 'this node'} would create ${namespace}/${pod} again: delete it with kubectl, or kcri on that node, or remove its manifest`;
  if (manager === 'kcri' && kind === 'container')
    return 'this container is part of a pod of kcri: select the pod to delete it, or press r to restart it';
  return undefined;
}
