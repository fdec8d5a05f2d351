import {
  isPodReady,
  type ContainerStatus,
  type PodCondition,
  type PodStatus,
} from '../../../../api/types/v1-status.js';
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
