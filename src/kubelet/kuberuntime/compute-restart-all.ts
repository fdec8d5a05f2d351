import type {Container, Pod} from '../../api/v1.js';
import type {ContainerToReset} from '../container/pod-actions.js';
import {
  findContainerStatus,
  type RuntimeContainerStatus,
  type RuntimePodStatus,
} from '../container/pod-status.js';
import {exitCode, matchingRule} from './restart-policy.js';

/**
 * What has to go so that the pod begins anew, because a container exited as a rule of its has it
 * (ShouldAllContainersRestart, getContainersToReset): every instance of every container, and last those whose exit
 * demands it, so that whatever interrupts the removal it is gone on with. Empty when nothing demands it.
 */
export function containersToReset(pod: Pod, status: RuntimePodStatus): readonly ContainerToReset[] {
  const containers = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
  const demanded = containers.some((container) => {
    const newest = findContainerStatus(status, container.name);
    return newest !== undefined && demandsRestart(container, newest);
  });
  if (!demanded) return [];
  const instances = containers.flatMap((container) =>
    status.containers
      .filter(({name}) => name === container.name)
      .map((instance) => ({
        reset: {instance, kill: instance.state !== 'CONTAINER_EXITED'},
        demands: demandsRestart(container, instance),
      })),
  );
  return [...instances.filter(({demands}) => !demands), ...instances.filter(({demands}) => demands)].map(
    ({reset}) => reset,
  );
}

function demandsRestart(container: Container, instance: RuntimeContainerStatus): boolean {
  if (instance.state !== 'CONTAINER_EXITED') return false;
  return matchingRule(container, exitCode(instance))?.action === 'RestartAllContainers';
}
