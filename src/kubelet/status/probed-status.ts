import type {Pod} from '../../api/v1.js';
import type {ContainerStatus, PodStatus} from '../../api/v1-status.js';
import type {ProbeOutcome} from '../container/probe-results.js';
import {dated, readyConditions} from './conditions.js';

/** What a probe has found of a container instance, whose id is as statuses have it; `now` is RFC 3339. */
export interface ProbedInstance extends Pick<ProbeOutcome, 'probe' | 'status'> {
  readonly containerID: string;
  readonly now: string;
}

/**
 * The pod's status with what a probe has found, before the pod's worker makes it anew: readiness with what follows from
 * it, and that a container has started (status_manager.go SetContainerReadiness, SetContainerStartup). Undefined when
 * nothing of it is new: then the instance is another one by now, too.
 */
export function withProbed(pod: Pod, status: PodStatus, probed: ProbedInstance): PodStatus | undefined {
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
  const ready = dated(readyConditions({pod, phase, initStatuses, statuses}), conditions, probed.now);
  return {
    ...status,
    conditions: conditions.map((before) => ready.find(({type}) => type === before.type) ?? before),
    ...lists,
  };
}

type Found = Partial<Pick<ContainerStatus, 'ready' | 'started'>>;

/** That a container isn't well is for its pod's worker to see to. */
function foundBy({probe, status}: Pick<ProbeOutcome, 'probe' | 'status'>): Found | undefined {
  if (probe === 'liveness') return undefined;
  return probe === 'readiness' ? {ready: status === 'ready'} : {started: status === 'started'};
}

function isKnown(old: ContainerStatus, {ready = old.ready, started = old.started}: Found): boolean {
  return old.ready === ready && old.started === started;
}
