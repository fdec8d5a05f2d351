import type {PodActions} from '../../../../src/kubelet/contract/pod-actions.js';

/** Formats actions as short text: `kill pod, create sandbox 1, init i1, start main, kill main (Changed)`. */
export function formatPodActions(actions: PodActions): string {
  return [
    ...(actions.killPod ? ['kill pod'] : []),
    ...(actions.createSandbox ? [`create sandbox ${actions.attempt}`] : []),
    ...actions.containersToReset.map(({instance, kill}) => `${kill ? 'kill and ' : ''}remove ${instance.id}`),
    ...actions.containersToKill.map(({name, reason}) => `kill ${name} (${reason})`),
    ...actions.ephemeralContainersToStart.map(({name}) => `debug ${name}`),
    ...actions.initContainersToStart.map(({name}) => `init ${name}`),
    ...actions.containersToStart.map(({name}) => `start ${name}`),
  ].join(', ');
}
