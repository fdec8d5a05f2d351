import type {Container, Pod} from '../../api/v1.js';
import type {PodStatus} from '../../api/v1-status.js';
import type {ContainerToReset} from '../container/pod-actions.js';
import {
  findContainerStatus,
  type RuntimeContainerStatus,
  type RuntimePodStatus,
} from '../container/pod-status.js';
import {exitCode, matchingRule} from './restart-policy.js';

/** Whether some container has a rule by which its exit restarts all of them (podutil.AllContainersCouldRestart). */
export function couldRestartAllContainers(pod: Pod): boolean {
  return allContainers(pod).some(({restartPolicyRules = []}) =>
    restartPolicyRules.some(({action}) => action === 'RestartAllContainers'),
  );
}

/**
 * Whether all containers are to begin anew: the status before says so, or a container exited as a rule of its has it,
 * and stands there still (ShouldAllContainersRestart).
 */
export function shouldRestartAllContainers(
  pod: Pod,
  runtime: RuntimePodStatus,
  previous: PodStatus | undefined,
): boolean {
  const demanded = allContainers(pod).some((container) => {
    const newest = findContainerStatus(runtime, container.name);
    return newest !== undefined && demandsRestart(container, newest);
  });
  return demanded || isRestartingAllContainers(previous);
}

/** Whether a status says that all containers are being removed to begin anew. */
export function isRestartingAllContainers({conditions = []}: PodStatus = {}): boolean {
  return conditions.some(({type, status}) => type === 'AllContainersRestarting' && status === 'True');
}

/** Whether nothing is left in the runtime of what has to go (AllContainersRestartCleanedUp). */
export function areAllContainersRemoved(pod: Pod, runtime: RuntimePodStatus): boolean {
  return allContainers(pod).every(({name}) => findContainerStatus(runtime, name) === undefined);
}

/**
 * What has to go so that the pod begins anew (getContainersToReset): every instance of every container, and last those
 * whose exit demands it, so that whatever interrupts the removal it is gone on with.
 */
export function containersToReset(pod: Pod, status: RuntimePodStatus): readonly ContainerToReset[] {
  const instances = allContainers(pod).flatMap((container) =>
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

function allContainers({spec}: Pod): readonly Container[] {
  return [...spec.containers, ...(spec.initContainers ?? [])];
}

function demandsRestart(container: Container, instance: RuntimeContainerStatus): boolean {
  if (instance.state !== 'CONTAINER_EXITED') return false;
  return matchingRule(container, exitCode(instance))?.action === 'RestartAllContainers';
}
