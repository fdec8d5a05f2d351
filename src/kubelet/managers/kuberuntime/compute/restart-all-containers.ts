import {containersOf} from '../../../../api/pod-containers.js';
import {findMatchingRestartRule} from '../../../../api/restart-rules.js';
import type {Container, Pod} from '../../../../api/types/v1-pod.js';
import type {PodStatus} from '../../../../api/types/v1-status.js';
import {filterByName} from '../../../../base/by-name.js';
import type {ContainerToReset} from '../../../contract/pod-actions.js';
import {
  findContainerStatus,
  type RuntimeContainerStatus,
  type RuntimePodStatus,
} from '../../../contract/runtime-pod-status.js';
import {exitCode} from './restart-policy.js';

/** Reports whether a container has a rule whose action is RestartAllContainers (podutil.AllContainersCouldRestart). */
export function couldRestartAllContainers(pod: Pod): boolean {
  return containersOf(pod).some(({restartPolicyRules = []}) =>
    restartPolicyRules.some(({action}) => action === 'RestartAllContainers'),
  );
}

/**
 * Reports whether all containers must restart: the previous status says so, or the newest instance of a container
 * exited with a code that a RestartAllContainers rule matches (ShouldAllContainersRestart).
 */
export function shouldRestartAllContainers(
  pod: Pod,
  runtime: RuntimePodStatus,
  previous: PodStatus | undefined,
): boolean {
  const isTriggered = containersOf(pod).some((container) => {
    const newest = findContainerStatus(runtime, container.name);
    return newest !== undefined && triggersRestart(container, newest);
  });
  return isTriggered || isRestartingAllContainers(previous);
}

/** Reports whether a status has a true AllContainersRestarting condition. */
export function isRestartingAllContainers({conditions = []}: PodStatus = {}): boolean {
  return conditions.some(({type, status}) => type === 'AllContainersRestarting' && status === 'True');
}

/** Reports whether the runtime has no instance of any container of the pod (AllContainersRestartCleanedUp). */
export function areAllContainersRemoved(pod: Pod, runtime: RuntimePodStatus): boolean {
  return containersOf(pod).every(({name}) => findContainerStatus(runtime, name) === undefined);
}

/**
 * Returns all instances of all containers, to be removed before the pod restarts (getContainersToReset). Those whose
 * exit triggered the restart come last, so that an interrupted removal continues.
 */
export function computeContainersToReset(pod: Pod, status: RuntimePodStatus): readonly ContainerToReset[] {
  const {containers, initContainers = []} = pod.spec;
  const instances = [...containers, ...initContainers].flatMap((container) =>
    filterByName(status.containers, container.name).map((instance) => ({
      reset: {instance, kill: instance.state !== 'CONTAINER_EXITED'},
      triggers: triggersRestart(container, instance),
    })),
  );
  return [...instances.filter(({triggers}) => !triggers), ...instances.filter(({triggers}) => triggers)].map(
    ({reset}) => reset,
  );
}

function triggersRestart(container: Container, instance: RuntimeContainerStatus): boolean {
  if (instance.state !== 'CONTAINER_EXITED') return false;
  return findMatchingRestartRule(container, exitCode(instance))?.action === 'RestartAllContainers';
}
