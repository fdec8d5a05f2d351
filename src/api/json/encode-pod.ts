import type {Pod} from '../types/v1-pod.js';
import type {ContainerState, ContainerStatus, PodCondition, PodStatus} from '../types/v1-status.js';

/**
 * Returns the Pod for JSON as Kubernetes writes it. Go has no undefined for structs: an unset time that is not a pointer
 * is null, and an unset container state an empty object.
 */
export function encodePod(pod: Pod): Readonly<Record<keyof Pod, unknown>> {
  return {...pod, status: encodePodStatus(pod.status ?? {})};
}

/** Returns the status of a Pod for JSON as Kubernetes writes it. */
export function encodePodStatus(status: PodStatus): object {
  const {conditions, containerStatuses, initContainerStatuses, ephemeralContainerStatuses} = status;
  return {
    ...status,
    ...(conditions && {conditions: conditions.map(encodeCondition)}),
    ...(containerStatuses && {containerStatuses: containerStatuses.map(encodeContainerStatus)}),
    ...(initContainerStatuses && {initContainerStatuses: initContainerStatuses.map(encodeContainerStatus)}),
    ...(ephemeralContainerStatuses && {
      ephemeralContainerStatuses: ephemeralContainerStatuses.map(encodeContainerStatus),
    }),
  };
}

function encodeCondition(condition: PodCondition): object {
  const {lastProbeTime = null, lastTransitionTime = null} = condition;
  return {...condition, lastProbeTime, lastTransitionTime};
}

function encodeContainerStatus({state = {}, lastState = {}, ...status}: ContainerStatus): object {
  return {...status, state: encodeState(state), lastState: encodeState(lastState)};
}

function encodeState({running, terminated, ...state}: ContainerState): object {
  return {
    ...state,
    ...(running && {running: {...running, startedAt: running.startedAt ?? null}}),
    ...(terminated && {
      terminated: {
        ...terminated,
        startedAt: terminated.startedAt ?? null,
        finishedAt: terminated.finishedAt ?? null,
      },
    }),
  };
}
