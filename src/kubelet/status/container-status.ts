import type {Container, Pod} from '../../api/v1.js';
import type {ContainerState, ContainerStatus, ContainerUser} from '../../api/v1-status.js';
import type {RuntimeContainerStatus, RuntimePodStatus} from '../container/pod-status.js';
import {shouldBeStarted} from '../kuberuntime/restart-policy.js';

/** Why a container is not running: the reason and message of its last failed start. */
export interface WaitingReason {
  readonly reason: string;
  readonly message: string;
}

/** What container statuses are made of. */
export interface ContainerStatusInput {
  readonly pod: Pod;
  readonly runtime: RuntimePodStatus;
  /** By container name; a started container has none. */
  readonly reasons: ReadonlyMap<string, WaitingReason>;
  /** `containerd` in `containerd://<id>`. */
  readonly runtimeName: string;
}

/**
 * The status of one container: its newest instance as the state, the one before as the last state
 * (convertToAPIContainerStatuses). Without probes a running container is ready; an init container is when it
 * has succeeded.
 */
export function containerStatus(
  input: ContainerStatusInput,
  container: Container,
  kind: 'init' | 'regular',
): ContainerStatus {
  const [newest, before] = input.runtime.containers.filter(({name}) => name === container.name);
  const {state, lastState} = states(input, container, newest, before);
  const running = state.running !== undefined;
  const runsToItsEnd = kind === 'init' && container.restartPolicy !== 'Always';
  return {
    name: container.name,
    state,
    lastState,
    ready: runsToItsEnd ? state.terminated?.exitCode === 0 : running,
    started: !runsToItsEnd && running,
    restartCount: newest?.restartCount ?? 0,
    ...imageOf(container, newest),
    ...(newest === undefined ? {} : {containerID: fullId(input, newest), ...userOf(newest)}),
  };
}

/** A container that could not be started again is waiting, and how it ended before is its last state. */
function states(
  input: ContainerStatusInput,
  container: Container,
  newest: RuntimeContainerStatus | undefined,
  before: RuntimeContainerStatus | undefined,
): {readonly state: ContainerState; readonly lastState: ContainerState} {
  const own = newest === undefined ? {waiting: {reason: waitingReason(input.pod)}} : stateOf(input, newest);
  const lastState = lastStateOf(input, before);
  const failure = shouldBeStarted(input.pod, container, newest)
    ? input.reasons.get(container.name)
    : undefined;
  if (failure === undefined) return {state: own, lastState};
  return {state: {waiting: failure}, lastState: own.terminated === undefined ? lastState : own};
}

function imageOf(
  {image}: Container,
  newest: RuntimeContainerStatus | undefined,
): Pick<ContainerStatus, 'image' | 'imageID'> {
  return {image: newest?.cri.image?.image ?? image, imageID: newest?.cri.imageRef ?? ''};
}

function waitingReason({spec}: Pod): string {
  return (spec.initContainers?.length ?? 0) > 0 ? 'PodInitializing' : 'ContainerCreating';
}

function fullId({runtimeName}: ContainerStatusInput, {id}: RuntimeContainerStatus): string {
  return `${runtimeName}://${id}`;
}

function lastStateOf(
  input: ContainerStatusInput,
  before: RuntimeContainerStatus | undefined,
): ContainerState {
  return before?.state === 'CONTAINER_EXITED' ? stateOf(input, before) : {};
}

function stateOf(input: ContainerStatusInput, instance: RuntimeContainerStatus): ContainerState {
  const {cri, state} = instance;
  switch (state) {
    case 'CONTAINER_RUNNING':
      return {running: {startedAt: timeOf(cri.startedAt)}};
    case 'CONTAINER_EXITED':
      return {
        terminated: {
          exitCode: cri.exitCode,
          reason: cri.reason,
          ...(cri.message === '' ? {} : {message: cri.message}),
          startedAt: timeOf(cri.startedAt),
          finishedAt: timeOf(cri.finishedAt),
          containerID: fullId(input, instance),
        },
      };
    default:
      return {waiting: {}};
  }
}

function userOf({cri}: RuntimeContainerStatus): {readonly user?: ContainerUser} {
  const linux = cri.user?.linux;
  if (linux === undefined) return {};
  const supplementalGroups = linux.supplementalGroups.map(Number);
  return {user: {linux: {uid: Number(linux.uid), gid: Number(linux.gid), supplementalGroups}}};
}

/** RFC 3339 in whole seconds, as the API keeps times. */
export function timeOf(nanos: bigint): string {
  return new Date(Number(nanos / 1_000_000_000n) * 1000).toISOString().replace('.000Z', 'Z');
}
