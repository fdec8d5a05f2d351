import {isRestartableInitContainer} from '../../../../api/pod-containers.js';
import type {Pod} from '../../../../api/types/v1-pod.js';
import {
  hasEnded,
  type ContainerState,
  type ContainerStatus,
  type PodStatus,
} from '../../../../api/types/v1-status.js';
import {isStaticPod} from '../../../sources/static-pod.js';

const CONTAINER_LOST = {
  reason: 'ContainerStatusUnknown',
  message: 'The container could not be located when the pod was terminated',
  exitCode: 137,
} as const;

/**
 * Returns the final status of a pod of which nothing is left on the node: the phase is terminal, except that of a static
 * pod, and containers that may have run are terminated (status_manager.go TerminatePod). `terminatingAt` is the start of the
 * termination, in ms since the epoch.
 */
export function terminatedPodStatus(pod: Pod, status: PodStatus, terminatingAt = Infinity): PodStatus {
  const {containerStatuses, initContainerStatuses} = status;
  return {
    ...status,
    ...(!hasEnded(status.phase) && !isStaticPod(pod) && {phase: 'Failed'}),
    ...(containerStatuses && {
      containerStatuses: isInitialized(pod, status, terminatingAt)
        ? containerStatuses.map(terminated)
        : containerStatuses,
    }),
    ...(initContainerStatuses && {initContainerStatuses: terminateStarted(initContainerStatuses)}),
  };
}

function terminated(container: ContainerStatus): ContainerStatus {
  return container.state?.terminated === undefined
    ? {...container, state: {terminated: CONTAINER_LOST}}
    : container;
}

/** Terminates the init containers up to the last that was started, and always the first (initializedContainers). */
function terminateStarted(containers: readonly ContainerStatus[]): readonly ContainerStatus[] {
  const lastStarted = Math.max(0, containers.findLastIndex(wasStarted));
  return containers.map((container, index) => (index <= lastStarted ? terminated(container) : container));
}

function wasStarted({state, lastState}: ContainerStatus): boolean {
  return state?.waiting === undefined || lastState?.terminated !== undefined;
}

/**
 * Reports whether regular containers may have been started (hasPodInitialized). An init container that ends with 0 because it
 * was stopped is followed by none.
 */
function isInitialized(
  {spec}: Pod,
  {containerStatuses = [], initContainerStatuses = []}: PodStatus,
  terminatingAt: number,
): boolean {
  const lastInit = spec.initContainers?.at(-1);
  if (lastInit === undefined || containerStatuses.some(wasStarted)) return true;
  const status = initContainerStatuses.find(({name}) => name === lastInit.name);
  if (isRestartableInitContainer(lastInit))
    return status?.state?.running !== undefined && status.started === true;
  const hasSucceeded = (state: ContainerState | undefined): boolean =>
    state?.terminated?.exitCode === 0 && !endedSince(state.terminated, terminatingAt);
  return [status?.state, status?.lastState].some(hasSucceeded);
}

/** Reports whether the container ended at that time or later; its time has whole seconds. */
function endedSince({finishedAt}: {readonly finishedAt?: string}, ms: number): boolean {
  const endedAt = Date.parse(finishedAt ?? '');
  return endedAt >= Math.floor(ms / 1000) * 1000;
}
