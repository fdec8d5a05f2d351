import {isRestartableInit} from '../../api/resource-list.js';
import type {Container, Pod} from '../../api/v1.js';
import type {ContainerState, ContainerStatus, PodPhase} from '../../api/v1-status.js';
import {restartsAfter} from '../kuberuntime/restart-policy.js';
import {RESTARTING_ALL_CONTAINERS} from './container-status.js';

/** What the phase is made of. */
export interface PhaseInput {
  readonly pod: Pod;
  readonly initStatuses: readonly ContainerStatus[];
  readonly statuses: readonly ContainerStatus[];
  /** A regular container exists in the newest sandbox: its init containers are behind it. */
  readonly hasInitialized: boolean;
  /** Everything was stopped for good: a container that would be restarted won't be. */
  readonly isTerminal: boolean;
}

/** How far one container has come. */
type Progress =
  | {readonly kind: 'running'; readonly started: boolean}
  /** Not started yet, or nobody knows. */
  | {readonly kind: 'waiting'}
  /** Ended, and perhaps to be started again. `waits`: that it will be is known already. */
  | {
      readonly kind: 'stopped';
      readonly exitCode: number;
      readonly waits: boolean;
      readonly restarts: boolean;
    };

/** The pod's phase, from the statuses of its containers (kubelet_pods.go getPhase). */
export function podPhase({pod, initStatuses, statuses, hasInitialized, isTerminal}: PhaseInput): PodPhase {
  const {containers, initContainers = []} = pod.spec;
  const ownProgress = (container: Container, all: readonly ContainerStatus[]): Progress =>
    progressOf(
      pod,
      container,
      all.find(({name}) => name === container.name),
    );
  const inits = initContainers
    .filter((container) => !isRestartableInit(container))
    .map((container) => ownProgress(container, initStatuses));
  const sidecars = initContainers
    .filter(isRestartableInit)
    .map((container) => ownProgress(container, initStatuses))
    // An ended sidecar says nothing about the pod.
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

/** The phase of an initialized pod. */
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
    restarts: restartsAfter(pod, container, exitCode) || reason === RESTARTING_ALL_CONTAINERS,
  };
}

/** A container that waits for a restart has ended before. */
function endOf(state: ContainerState, lastState: ContainerState): ContainerState['terminated'] {
  return state.waiting === undefined ? state.terminated : lastState.terminated;
}
