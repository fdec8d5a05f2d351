import {isRestartableInitContainer} from '../../../../api/pod-containers.js';
import type {Container, Pod} from '../../../../api/types/v1-pod.js';
import type {ContainerState, ContainerStatus, PodPhase} from '../../../../api/types/v1-status.js';
import {findByName} from '../../../../base/by-name.js';
import {shouldRestartAfterExit} from '../../../managers/kuberuntime/compute/restart-policy.js';
import {RESTARTING_ALL_CONTAINERS} from './container-status.js';

/** Input of computePodPhase. */
export interface PhaseInput {
  readonly pod: Pod;
  readonly initStatuses: readonly ContainerStatus[];
  readonly statuses: readonly ContainerStatus[];
  /** True if a regular container exists in the newest sandbox, so that initialization is complete. */
  readonly hasInitialized: boolean;
  /** True if the pod was stopped for good: containers are not restarted, regardless of the restart policy. */
  readonly isTerminal: boolean;
}

/** Progress of one container. */
type Progress =
  | {readonly kind: 'running'; readonly started: boolean}
  /** Not started yet, or unknown. */
  | {readonly kind: 'waiting'}
  /** Exited, and possibly restarted later; `waits`: its status is already waiting for the restart. */
  | {
      readonly kind: 'stopped';
      readonly exitCode: number;
      readonly waits: boolean;
      readonly restarts: boolean;
    };

/** Returns the pod's phase, computed from its container statuses (kubelet_pods.go getPhase). */
export function computePodPhase({
  pod,
  initStatuses,
  statuses,
  hasInitialized,
  isTerminal,
}: PhaseInput): PodPhase {
  const {containers, initContainers = []} = pod.spec;
  const ownProgress = (container: Container, all: readonly ContainerStatus[]): Progress =>
    progressOf(pod, container, findByName(all, container.name));
  const inits = initContainers
    .filter((container) => !isRestartableInitContainer(container))
    .map((container) => ownProgress(container, initStatuses));
  const sidecars = initContainers
    .filter(isRestartableInitContainer)
    .map((container) => ownProgress(container, initStatuses))
    // An exited sidecar does not affect the phase.
    .filter(({kind}) => kind !== 'stopped');
  const regular = containers.map((container) => ownProgress(container, statuses));

  if (inits.some(hasFailed)) return 'Failed';
  const initializing =
    inits.some(({kind}) => kind !== 'stopped') || (!hasInitialized && !sidecars.every(isStarted));
  return initializing ? 'Pending' : phaseOf([...sidecars, ...regular], isTerminal);
}

function hasFailed(init: Progress): boolean {
  return init.kind === 'stopped' && init.exitCode !== 0 && !init.restarts;
}

function isStarted(sidecar: Progress): boolean {
  return sidecar.kind === 'running' && sidecar.started;
}

/** Returns the phase of an initialized pod. */
function phaseOf(containers: readonly Progress[], isTerminal: boolean): PodPhase {
  const has = (kind: Progress['kind']): boolean => containers.some((container) => container.kind === kind);
  if (has('waiting')) return 'Pending';
  if (has('running')) return 'Running';
  const stopped = containers.filter((container) => container.kind === 'stopped');
  if (stopped.length === 0) return 'Pending';
  if (!isTerminal && stopped.some(({restarts}) => restarts)) return 'Running';
  return stopped.every(({exitCode, waits}) => exitCode === 0 && !waits) ? 'Succeeded' : 'Failed';
}

function progressOf(pod: Pod, container: Container, status: ContainerStatus | undefined): Progress {
  const {state = {}, lastState = {}} = status ?? {};
  if (state.running !== undefined) return {kind: 'running', started: status?.started === true};
  const ended = endOf(state, lastState);
  if (ended === undefined) return {kind: 'waiting'};
  const {exitCode, reason} = ended;
  return {
    kind: 'stopped',
    exitCode,
    waits: state.waiting !== undefined,
    restarts: shouldRestartAfterExit(pod, container, exitCode) || reason === RESTARTING_ALL_CONTAINERS,
  };
}

/** Returns how the container exited: in its last state if it waits for a restart. */
function endOf(state: ContainerState, lastState: ContainerState): ContainerState['terminated'] {
  return state.waiting === undefined ? state.terminated : lastState.terminated;
}
