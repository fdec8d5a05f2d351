import {itemTitle, type TopItem} from './top-item.js';
import type {ConfirmedAction} from './top-state.js';

/** Returns why an action is not possible on a row; undefined if it is. */
export function refuseAction(action: ConfirmedAction, item: TopItem): string | undefined {
  return action === 'delete' ? refuseDelete(item) : refuseRestart(item);
}

function refuseDelete({kind, manager, namespace, pod}: TopItem): string | undefined {
  if (manager === 'kubelet')
    return `the kubelet of this node would create ${namespace}/${pod} again: delete it with kubectl, or remove its manifest`;
  if (manager === 'kcri' && kind === 'container')
    return 'kcri would create the container again: select its pod to delete it, or press r to restart it';
  return undefined;
}

function refuseRestart(item: TopItem): string | undefined {
  if (item.manager !== 'none') return undefined;
  return `another CRI client created ${itemTitle(item)}: nothing would start it again`;
}
