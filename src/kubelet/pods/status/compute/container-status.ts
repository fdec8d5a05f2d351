import {isRestartableInitContainer} from '../../../../api/pod-containers.js';
import type {Container, Pod} from '../../../../api/types/v1-pod.js';
import {
  isPodReady,
  type ContainerState,
  type ContainerStateTerminated,
  type ContainerStatus,
  type ContainerUser,
  type PodStatus,
} from '../../../../api/types/v1-status.js';
import {filterByName, findByName} from '../../../../base/by-name.js';
import type {ContainerId} from '../../../../cri/index.js';
import type {RuntimeFeatures} from '../../../contract/node-facts.js';
import type {PodAllocation} from '../../../contract/resources/actuated-resources.js';
import type {PodProbes, Readiness} from '../../../contract/probe-results.js';
import type {RuntimeContainerStatus, RuntimePodStatus} from '../../../contract/runtime-pod-status.js';
import type {WaitingReason} from '../../../contract/waiting-reason.js';
import {hasAnyRegularContainerCreated} from '../../../managers/kuberuntime/compute/compute-pod-actions.js';
import {shouldStartContainer} from '../../../managers/kuberuntime/compute/restart-policy.js';
import {computeContainerResources} from './container-resources.js';
import {mountsBefore, volumeMountsOf} from './volume-mount-status.js';

/** Exit code of a container that exited in an unknown way: that of a killed one. */
const EXIT_CODE_UNKNOWN = 137;

/**
 * Reason of a container that was removed for a restart of all containers, when waiting and as its termination reason.
 */
export const RESTARTING_ALL_CONTAINERS = 'RestartingAllContainers';
const REMOVED = 'The container is removed because RestartAllContainers in place';

/** Input of computeContainerStatus. */
export interface ContainerStatusInput {
  readonly pod: Pod;
  readonly runtime: RuntimePodStatus;
  /** Waiting reasons by container name; a started container has none. */
  readonly reasons: ReadonlyMap<string, WaitingReason>;
  /** Termination messages of exited containers (TerminationMessageReader). */
  readonly terminationMessages?: ReadonlyMap<ContainerId, string>;
  /** Termination messages already published, which never change (publishedTerminationMessages). */
  readonly publishedMessages?: ReadonlyMap<string, string>;
  /** Previous status of the pod: the source of data that the runtime no longer has. */
  readonly previous: PodStatus | undefined;
  /** Status that another process persisted, for the readiness of instances that still run. */
  readonly restored?: PodStatus | undefined;
  /**
   * Returns the readiness of a running instance from its probes; without it a running instance is started and ready.
   */
  readonly readinessOf?: PodProbes['readinessOf'];
  /** True if all containers restart (shouldRestartAllContainers). */
  readonly restartsAll: boolean;
  /** Resources last actuated for the containers. */
  readonly actuated?: PodAllocation | undefined;
  readonly node: {readonly runtime: Pick<RuntimeFeatures, 'handlers'>};
  /** Runtime name in container IDs: `containerd` in `containerd://<id>`. */
  readonly runtimeName: string;
}

/** List of the Pod spec that contains the container. */
type Kind = 'init' | 'regular' | 'ephemeral';

/** Fields of the pod's status by kind. */
const STATUS_LISTS = {
  init: 'initContainerStatuses',
  regular: 'containerStatuses',
  ephemeral: 'ephemeralContainerStatuses',
} as const satisfies Record<Kind, keyof PodStatus>;

/** Container status without the fields derived from its state. */
type Observed = Omit<ContainerStatus, 'ready' | 'started'> & {readonly state: ContainerState};

/**
 * Returns the status of one container: its newest instance as the state, the previous one as the last state
 * (convertToAPIContainerStatuses).
 */
export function computeContainerStatus(
  input: ContainerStatusInput,
  container: Container,
  kind: Kind,
): ContainerStatus {
  const old = previousStatus(input, container, kind);
  const instances = filterByName(input.runtime.containers, container.name);
  const [newest, before] = isSucceeded(input, instances, old) ? [] : instances;
  const observed =
    newest === undefined
      ? forgotten(input, container, {kind, old})
      : existing(input, container, {newest, before, old});
  const status = {...observed, ...failedStart(input, container, {kind, newest, observed})};
  return {...status, ...readiness(input, container, {kind, newest, state: status.state})};
}

/**
 * Reports whether the newest instance has a successor that has ended and was removed before it, for example by the
 * container GC. The status does not go back to the earlier instance.
 */
function isSucceeded(
  input: ContainerStatusInput,
  [newest]: readonly RuntimeContainerStatus[],
  old: ContainerStatus | undefined,
): boolean {
  if (newest === undefined || old?.state?.terminated === undefined) return false;
  return old.lastState?.terminated?.containerID === fullId(input, newest);
}

function previousStatus(
  {previous}: Pick<ContainerStatusInput, 'previous'>,
  {name}: Container,
  kind: Kind,
): ContainerStatus | undefined {
  return findByName(previous?.[STATUS_LISTS[kind]] ?? [], name);
}

/**
 * Returns whether the container is started and ready: by its probes while it runs; an ordinary init container is ready
 * once it has succeeded. An ephemeral container is never ready.
 */
function readiness(
  input: ContainerStatusInput,
  container: Container,
  {
    kind,
    newest,
    state: {running, terminated},
  }: {
    readonly kind: Kind;
    readonly newest: RuntimeContainerStatus | undefined;
    readonly state: ContainerState;
  },
): Partial<Pick<Readiness, 'started'>> & Pick<Readiness, 'ready'> {
  if (kind === 'ephemeral') return {ready: false};
  const runsToItsEnd = kind === 'init' && !isRestartableInitContainer(container);
  if (runsToItsEnd) return {started: running !== undefined, ready: terminated?.exitCode === 0};
  if (running === undefined || newest === undefined) return {started: false, ready: false};
  const before = readinessBefore(input, container, {kind, newest});
  return input.readinessOf?.({container, id: newest.id, before}) ?? {started: true, ready: true};
}

/**
 * Returns the readiness of the same instance in the previous status, of this or another process. After a restart of the
 * kubelet, only containers of a ready pod are ready before they are probed (setReadyStateOnKubeletRestart).
 */
function readinessBefore(
  input: ContainerStatusInput,
  container: Container,
  {kind, newest}: {readonly kind: Kind; readonly newest: RuntimeContainerStatus},
): Readiness | undefined {
  const find = (previous: PodStatus | undefined): Readiness | undefined => {
    const old = previousStatus({previous}, container, kind);
    const isSame = old?.containerID === fullId(input, newest) && old.state?.running !== undefined;
    return isSame ? {started: old.started === true, ready: old.ready} : undefined;
  };
  const own = find(input.previous);
  if (own !== undefined) return own;
  const restored = find(input.restored);
  return restored && {...restored, ready: restored.ready && isPodReady(input.restored ?? {})};
}

interface Instances {
  readonly newest: RuntimeContainerStatus;
  readonly before: RuntimeContainerStatus | undefined;
  readonly old: ContainerStatus | undefined;
}

function existing(
  input: ContainerStatusInput,
  container: Container,
  {newest, before, old}: Instances,
): Observed {
  const isSame = old?.containerID === fullId(input, newest) && old.state?.running !== undefined;
  return {
    name: container.name,
    state: stateOf(input, newest, old),
    lastState: before === undefined ? rememberedState(input, newest, old) : stateOf(input, before, old),
    restartCount: restartCountOf(newest, old),
    image: newest.cri.image?.image ?? container.image,
    imageID: newest.cri.imageRef,
    containerID: fullId(input, newest),
    ...computeContainerResources(container, newest, {
      before: isSame ? old.resources : undefined,
      actuated: input.actuated?.containers.get(container.name),
    }),
    ...userOf(newest),
    // They do not change while the instance exists.
    ...(isSame ? mountsBefore(old) : volumeMountsOf(container, input)),
  };
}

/**
 * Returns the termination of the previous instance from the previous status: the container may be removed when its
 * successor starts.
 */
function rememberedState(
  input: ContainerStatusInput,
  newest: RuntimeContainerStatus,
  old: ContainerStatus | undefined,
): ContainerState {
  const ended = old?.containerID === fullId(input, newest) ? undefined : old?.state?.terminated;
  const terminated = ended ?? old?.lastState?.terminated;
  return terminated === undefined ? {} : {terminated};
}

/**
 * Returns the restart count, which never decreases. It increases when another instance has exited since or this one is
 * lost.
 */
function restartCountOf(newest: RuntimeContainerStatus, old: ContainerStatus | undefined): number {
  const {state, restartCount} = newest;
  const known = old?.restartCount ?? 0;
  if (isLost(newest, old)) return known + 1;
  const restarted = state === 'CONTAINER_RUNNING' && old?.state?.terminated !== undefined;
  return restarted && known >= restartCount ? known + 1 : Math.max(known, restartCount);
}

/** Reports whether the container was running and the runtime no longer knows its state. */
function isLost({state}: RuntimeContainerStatus, old: ContainerStatus | undefined): boolean {
  return state === 'CONTAINER_UNKNOWN' && old?.state?.running !== undefined;
}

/**
 * Returns the status of a container without an instance in the runtime, because it was not created yet or was removed.
 */
function forgotten(
  input: ContainerStatusInput,
  container: Container,
  {kind, old}: {readonly kind: Kind; readonly old: ContainerStatus | undefined},
): Observed {
  const {pod, runtime} = input;
  const status = remembered(input, container, old);
  const runsToItsEnd = kind === 'init' && !isRestartableInitContainer(container);
  return runsToItsEnd && status.state.waiting !== undefined && hasAnyRegularContainerCreated(pod, runtime)
    ? {...status, state: {terminated: EXITED_UNSEEN}}
    : status;
}

/** Returns the status of a removed container, derived from the previous status. */
function remembered(
  input: ContainerStatusInput,
  container: Container,
  old: ContainerStatus | undefined,
): Observed {
  const {pod, restartsAll} = input;
  const fresh = withoutInstance(input, container);
  if (old === undefined) return fresh;
  const {state = {}} = old;
  const known = state.terminated === undefined ? {...fresh, ...past(pod, old)} : {...old, state};
  return restartsAll && state.waiting === undefined ? {...known, ...reset(old)} : known;
}

function withoutInstance(input: ContainerStatusInput, container: Container): Observed {
  return {
    name: container.name,
    state: {waiting: {reason: waitingReason(input.pod)}},
    lastState: {},
    restartCount: 0,
    image: container.image,
    imageID: '',
    ...volumeMountsOf(container, input),
  };
}

/** Returns the fields of a container that was removed for a restart of all containers. */
function reset({restartCount}: ContainerStatus): Pick<Observed, 'state' | 'lastState' | 'restartCount'> {
  const why = {reason: RESTARTING_ALL_CONTAINERS, message: REMOVED};
  return {
    state: {waiting: why},
    lastState: {terminated: {...why, exitCode: EXIT_CODE_UNKNOWN}},
    restartCount: restartCount + 1,
  };
}

/** Returns the last state and restart count of the previous status; a container that was running then has exited. */
function past(
  {metadata}: Pod,
  {state, lastState = {}, restartCount}: ContainerStatus,
): Pick<Observed, 'lastState' | 'restartCount'> {
  if (state?.running === undefined || lastState.terminated !== undefined) return {lastState, restartCount};
  const message =
    'The container could not be located when the pod was deleted.  The container used to be Running';
  return {
    lastState: {terminated: unknownEnd(message)},
    restartCount: restartCount + (metadata.deletionTimestamp === undefined ? 1 : 0),
  };
}

/** Termination of a removed init container: it must have succeeded if a regular container exists. */
const EXITED_UNSEEN: ContainerStateTerminated = {
  reason: 'Completed',
  message:
    'Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally',
  exitCode: 0,
};

function unknownEnd(message: string, reason = 'ContainerStatusUnknown'): ContainerStateTerminated {
  return {reason, message, exitCode: EXIT_CODE_UNKNOWN};
}

/** Returns the waiting state of a container that failed to start; its last state is its previous termination. */
function failedStart(
  {pod, reasons}: ContainerStatusInput,
  container: Container,
  {
    kind,
    newest,
    observed,
  }: {
    readonly kind: Kind;
    readonly newest: RuntimeContainerStatus | undefined;
    readonly observed: Observed;
  },
): Pick<Observed, 'state' | 'lastState'> | undefined {
  const failure = reasons.get(container.name);
  const done = kind === 'init' && newest?.state === 'CONTAINER_EXITED' && newest.cri.exitCode === 0;
  if (failure === undefined || done || !shouldStartContainer(pod, container, newest)) return undefined;
  const {state, lastState = {}} = observed;
  return {state: {waiting: failure}, lastState: state.terminated === undefined ? lastState : state};
}

function waitingReason({spec}: Pod): string {
  return (spec.initContainers?.length ?? 0) > 0 ? 'PodInitializing' : 'ContainerCreating';
}

function fullId({runtimeName}: ContainerStatusInput, {id}: RuntimeContainerStatus): string {
  return `${runtimeName}://${id}`;
}

function stateOf(
  input: ContainerStatusInput,
  instance: RuntimeContainerStatus,
  old: ContainerStatus | undefined,
): ContainerState {
  const {cri, state} = instance;
  if (isLost(instance, old)) return {terminated: lostEnd(input)};
  switch (state) {
    case 'CONTAINER_RUNNING':
      return {running: {startedAt: formatNanos(cri.startedAt)}};
    case 'CONTAINER_EXITED':
      return {terminated: terminatedState(input, instance)};
    default:
      return {waiting: {}};
  }
}

function lostEnd({restartsAll}: ContainerStatusInput): ContainerStateTerminated {
  const message = 'The container could not be located when the pod was terminated';
  return unknownEnd(message, restartsAll ? RESTARTING_ALL_CONTAINERS : undefined);
}

function terminatedState(
  input: ContainerStatusInput,
  instance: RuntimeContainerStatus,
): ContainerStateTerminated {
  const {exitCode, reason, message, startedAt, finishedAt} = instance.cri;
  const said = [message, input.terminationMessages?.get(instance.id) ?? ''].filter((part) => part !== '');
  const words =
    input.publishedMessages?.get(fullId(input, instance)) ??
    limitTerminationMessage(input.pod, said.join(': '));
  return {
    exitCode,
    ...(reason !== '' && {reason}),
    ...(words !== '' && {message: words}),
    startedAt: formatNanos(startedAt),
    finishedAt: formatNanos(finishedAt),
    containerID: fullId(input, instance),
  };
}

function userOf({cri}: RuntimeContainerStatus): {readonly user?: ContainerUser} {
  const linux = cri.user?.linux;
  if (linux === undefined) return {};
  const supplementalGroups = linux.supplementalGroups.map(Number);
  return {user: {linux: {uid: Number(linux.uid), gid: Number(linux.gid), supplementalGroups}}};
}

/** Formats nanoseconds since the epoch as RFC 3339 in whole seconds, as in the API. */
export function formatNanos(nanos: bigint): string {
  return new Date(Number(nanos / 1_000_000_000n) * 1000).toISOString().replace('.000Z', 'Z');
}

/** Formats milliseconds since the epoch as RFC 3339 in whole seconds. */
export function formatMs(ms: number): string {
  return formatNanos(BigInt(Math.floor(ms)) * 1_000_000n);
}

/** Size limit of all termination messages of a pod, in bytes. */
const MAX_MESSAGES_BYTES = 12 * 1024;

/**
 * Truncates a container's termination message to its share of the pod's limit, in UTF-8 bytes, and omits a character that
 * would be split (status_manager.go normalizeStatus).
 */
function limitTerminationMessage({spec}: Pod, message: string): string {
  const {containers, initContainers = [], ephemeralContainers = []} = spec;
  const count = containers.length + initContainers.length + ephemeralContainers.length;
  const limit = Math.floor(MAX_MESSAGES_BYTES / count);
  const bytes = Buffer.from(message);
  if (bytes.length <= limit) return message;
  return new TextDecoder().decode(bytes.subarray(0, limit), {stream: true});
}
