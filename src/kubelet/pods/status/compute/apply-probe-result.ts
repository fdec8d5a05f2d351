import type {Pod} from '../../../../api/types/v1-pod.js';
import type {ContainerStatus, PodStatus} from '../../../../api/types/v1-status.js';
import type {ProbeUpdate} from '../../../contract/probe-results.js';
import {computeReadyConditions, replaceConditions} from './pod-conditions.js';

/** Probe result of a container instance; `containerID` has the form of statuses, `now` is RFC 3339. */
export interface ProbedInstance extends Pick<ProbeUpdate, 'probe' | 'status'> {
  readonly containerID: string;
  readonly now: string;
}

/**
 * Returns the pod's status with a probe result, before the pod worker computes it again: readiness with the conditions
 * that depend on it, or that a container has started (status_manager.go SetContainerReadiness, SetContainerStartup).
 * Returns undefined if nothing changes or the instance has been replaced.
 */
export function applyProbeResult(pod: Pod, status: PodStatus, probed: ProbedInstance): PodStatus | undefined {
  const {phase, containerStatuses = [], initContainerStatuses = []} = status;
  const found = foundBy(probed);
  const old = [...containerStatuses, ...initContainerStatuses].find(
    ({containerID}) => containerID === probed.containerID,
  );
  if (phase === undefined || found === undefined || old === undefined || isKnown(old, found))
    return undefined;
  const renewed = (each: ContainerStatus): ContainerStatus => (each === old ? {...each, ...found} : each);
  const [statuses, initStatuses] = [containerStatuses.map(renewed), initContainerStatuses.map(renewed)];
  const lists = {
    ...(status.initContainerStatuses && {initContainerStatuses: initStatuses}),
    containerStatuses: statuses,
  };
  if (probed.probe === 'startup') return {...status, ...lists};
  const {conditions = []} = status;
  const ready = computeReadyConditions({pod, phase, initStatuses, statuses});
  return {...status, conditions: replaceConditions(pod, conditions, ready, probed.now), ...lists};
}

type Found = Partial<Pick<ContainerStatus, 'ready' | 'started'>>;

/** Returns the status fields that a probe result sets; undefined for liveness, which the pod worker handles. */
function foundBy({probe, status}: Pick<ProbeUpdate, 'probe' | 'status'>): Found | undefined {
  if (probe === 'liveness') return undefined;
  return probe === 'readiness' ? {ready: status === 'ready'} : {started: status === 'started'};
}

function isKnown(old: ContainerStatus, {ready = old.ready, started = old.started}: Found): boolean {
  return old.ready === ready && old.started === started;
}
