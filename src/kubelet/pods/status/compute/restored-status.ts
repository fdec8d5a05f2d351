import {
  isPodReady,
  type ContainerStatus,
  type PodCondition,
  type PodStatus,
} from '../../../../api/types/v1-status.js';
import {omit} from '../../../../base/omit.js';
import {findByName} from '../../../../base/by-name.js';
import type {ContainerId} from '../../../../cri/index.js';
import {parseContainerId} from '../../../contract/parse-container-id.js';
import type {Readiness} from '../../../contract/probe-results.js';
import {mountsBefore} from './volume-mount-status.js';
import type {WaitingReason} from '../../../contract/waiting-reason.js';

/**
 * Returns a status of the API server as the previous status of a kubelet that has started: containers of a pod that was not
 * ready are not ready before they are probed (setReadyStateOnKubeletRestart). Pure.
 */
export function restoredStatus(stored: PodStatus): PodStatus {
  if (isPodReady(stored)) return stored;
  const unready = (status: ContainerStatus): ContainerStatus =>
    status.state?.running === undefined ? status : {...status, ready: false};
  const {containerStatuses, initContainerStatuses} = stored;
  return {
    ...stored,
    ...(containerStatuses && {containerStatuses: containerStatuses.map(unready)}),
    ...(initContainerStatuses && {initContainerStatuses: initContainerStatuses.map(unready)}),
  };
}

/**
 * Returns the status with the start time and, where the state is the same, the transition times of a stored status: the
 * pod started and changed before this kubelet saw it. Pure.
 */
export function withStoredTimes(
  status: PodStatus,
  {startTime, conditions: stored = []}: PodStatus,
): PodStatus {
  if (startTime === undefined) return status;
  const withTime = (condition: PodCondition): PodCondition => {
    const known = stored.find(({type}) => type === condition.type);
    const {lastTransitionTime} = known?.status === condition.status ? known : condition;
    return {...condition, ...(lastTransitionTime !== undefined && {lastTransitionTime})};
  };
  const {conditions} = status;
  return {...status, startTime, conditions: conditions?.map(withTime) ?? stored};
}

/** Returns the readiness of a running container instance, whose readiness was `before` when another kubelet stopped. */
type ReadinessOf = (
  name: string,
  instance: {readonly id: ContainerId; readonly before: Readiness},
) => Readiness;

/**
 * Returns the status with the readiness that running containers have in a stored status, unless they have been
 * probed since, and with their mounts there, which do not change. Where all containers are as ready as they were, so is the pod.
 * Pure.
 */
export function withStoredReadiness(
  status: PodStatus,
  stored: PodStatus,
  readinessOf: ReadinessOf,
): PodStatus {
  const restore =
    (known: readonly ContainerStatus[] = []) =>
    (container: ContainerStatus): ContainerStatus => {
      const {name, containerID = '', state} = container;
      const old = findByName(known, name);
      if (old?.state?.running === undefined || old.containerID !== containerID || !state?.running)
        return container;
      const before = {started: old.started === true, ready: old.ready && isPodReady(stored)};
      const readiness = readinessOf(name, {id: parseContainerId(containerID), before});
      return {...omit(container, 'volumeMounts'), ...mountsBefore(old), ...readiness};
    };
  const containers = status.containerStatuses?.map(restore(stored.containerStatuses));
  const initContainers = status.initContainerStatuses?.map(restore(stored.initContainerStatuses));
  const isAsReady = containers?.every(
    ({name, ready}) => findByName(stored.containerStatuses ?? [], name)?.ready === ready,
  );
  const conditions = status.conditions?.map((condition) => {
    if (isAsReady !== true || !READINESS.has(condition.type)) return condition;
    return stored.conditions?.find(({type}) => type === condition.type) ?? condition;
  });
  return {
    ...status,
    ...(containers && {containerStatuses: containers}),
    ...(initContainers && {initContainerStatuses: initContainers}),
    ...(conditions && {conditions}),
  };
}

/** Conditions that follow from the readiness of the containers. */
const READINESS: ReadonlySet<string> = new Set(['Ready', 'ContainersReady']);

/** Reasons of containers that are about to start. */
const STARTING: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);

/** Returns why containers of the status wait, by name. */
export function waitingReasonsOf({
  containerStatuses = [],
  initContainerStatuses = [],
}: PodStatus): Readonly<Record<string, WaitingReason>> {
  const reasons = [...initContainerStatuses, ...containerStatuses].flatMap(({name, state}) => {
    const {reason = '', message = ''} = state?.waiting ?? {};
    return reason === '' || STARTING.has(reason) ? [] : [[name, {reason, message}] as const];
  });
  return Object.fromEntries(reasons);
}
