import {isRestartableInit} from '../../api/resource-list.js';
import type {Container, Pod, VolumeMount} from '../../api/v1.js';
import type {
  ContainerState,
  ContainerStateTerminated,
  ContainerStatus,
  ContainerUser,
  PodStatus,
  VolumeMountStatus,
} from '../../api/v1-status.js';
import type {ContainerId} from '../../cri/index.js';
import type {RuntimeFeatures} from '../container/node.js';
import type {PodAllocation} from '../container/pod-allocation.js';
import type {PodProbes, Readiness} from '../container/probe-results.js';
import type {RuntimeContainerStatus, RuntimePodStatus} from '../container/pod-status.js';
import {wasInitialized} from '../kuberuntime/compute-pod-actions.js';
import {mountsRecursivelyReadOnly} from '../kuberuntime/mounts.js';
import {shouldBeStarted} from '../kuberuntime/restart-policy.js';
import {resourcesOf} from './container-resources.js';

/** What the last words of a pod's containers may take together, in bytes. */
const MAX_MESSAGES_BYTES = 12 * 1024;
/** As if killed: what became of the container is not known. */
const EXIT_CODE_UNKNOWN = 137;

/** Why a container waits that was removed to begin anew with all others, and how it has ended. */
export const RESTARTING_ALL_CONTAINERS = 'RestartingAllContainers';
const REMOVED = 'The container is removed because RestartAllContainers in place';

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
  /** What exited containers left to say (readTerminationMessages). */
  readonly terminationMessages?: ReadonlyMap<ContainerId, string>;
  /** What was told of ends before, which stays (toldWords). */
  readonly told?: ReadonlyMap<string, string>;
  /** The pod's status before: what the runtime has forgotten is taken from it. */
  readonly previous: PodStatus | undefined;
  /** What another process has kept of the pod: how far instances had come that still run. */
  readonly recalled?: PodStatus | undefined;
  /** How far a running instance has come by its probes; without it what runs has started and is ready. */
  readonly readinessOf?: PodProbes['readinessOf'];
  /** All containers are to begin anew (shouldRestartAllContainers). */
  readonly restartsAll: boolean;
  /** What the containers were last given. */
  readonly actuated?: PodAllocation | undefined;
  readonly node: {readonly runtime: Pick<RuntimeFeatures, 'handlers'>};
  /** `containerd` in `containerd://<id>`. */
  readonly runtimeName: string;
}

/** Which list of the Pod the container stands in. */
type Kind = 'init' | 'regular';

/** All of a status but what follows from its state. */
type Observed = Omit<ContainerStatus, 'ready' | 'started'> & {readonly state: ContainerState};

/**
 * The status of one container: its newest instance as the state, the one before as the last state
 * (convertToAPIContainerStatuses).
 */
export function containerStatus(
  input: ContainerStatusInput,
  container: Container,
  kind: Kind,
): ContainerStatus {
  const [newest, before] = input.runtime.containers.filter(({name}) => name === container.name);
  const old = previousStatus(input, container, kind);
  const observed =
    newest === undefined
      ? forgotten(input, container, {kind, old})
      : existing(input, container, {newest, before, old});
  const status = {...observed, ...failedStart(input, container, {kind, newest, observed})};
  return {...status, ...readiness(input, container, {kind, newest, state: status.state})};
}

function previousStatus(
  {previous}: Pick<ContainerStatusInput, 'previous'>,
  {name}: Container,
  kind: Kind,
): ContainerStatus | undefined {
  const statuses = kind === 'init' ? previous?.initContainerStatuses : previous?.containerStatuses;
  return statuses?.find((status) => status.name === name);
}

/** What runs may have started and be ready, as its probes say; an ordinary init container is ready when it has succeeded. */
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
): Readiness {
  const runsToItsEnd = kind === 'init' && !isRestartableInit(container);
  if (runsToItsEnd) return {started: running !== undefined, ready: terminated?.exitCode === 0};
  if (running === undefined || newest === undefined) return {started: false, ready: false};
  const before = readinessBefore(input, container, {kind, newest});
  return input.readinessOf?.({container, id: newest.id, before}) ?? {started: true, ready: true};
}

/** How far the same instance had come when its status was made before, here or by another process. */
function readinessBefore(
  input: ContainerStatusInput,
  container: Container,
  {kind, newest}: {readonly kind: Kind; readonly newest: RuntimeContainerStatus},
): Readiness | undefined {
  const known = [input.previous, input.recalled]
    .map((previous) => previousStatus({previous}, container, kind))
    .find((old) => old?.containerID === fullId(input, newest) && old.state?.running !== undefined);
  return known && {started: known.started === true, ready: known.ready};
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
    ...resourcesOf(container, newest, {
      before: isSame ? old.resources : undefined,
      actuated: input.actuated?.containers.get(container.name),
    }),
    ...userOf(newest),
    ...volumeMountsOf(container, input),
  };
}

/** How the instance before ended, as the status before tells: a container may be removed when its successor starts. */
function rememberedState(
  input: ContainerStatusInput,
  newest: RuntimeContainerStatus,
  old: ContainerStatus | undefined,
): ContainerState {
  const ended = old?.containerID === fullId(input, newest) ? undefined : old?.state?.terminated;
  const terminated = ended ?? old?.lastState?.terminated;
  return terminated === undefined ? {} : {terminated};
}

/** Never less than was known before, and more when another instance has ended meanwhile, or this one got lost. */
function restartCountOf(newest: RuntimeContainerStatus, old: ContainerStatus | undefined): number {
  const {state, restartCount} = newest;
  const known = old?.restartCount ?? 0;
  if (isLost(newest, old)) return known + 1;
  const restarted = state === 'CONTAINER_RUNNING' && old?.state?.terminated !== undefined;
  return restarted && known >= restartCount ? known + 1 : Math.max(known, restartCount);
}

/** A container that ran, and of which the runtime knows no more how it is. */
function isLost({state}: RuntimeContainerStatus, old: ContainerStatus | undefined): boolean {
  return state === 'CONTAINER_UNKNOWN' && old?.state?.running !== undefined;
}

/** A container of which the runtime has nothing: not made yet, or removed. */
function forgotten(
  input: ContainerStatusInput,
  container: Container,
  {kind, old}: {readonly kind: Kind; readonly old: ContainerStatus | undefined},
): Observed {
  const {pod, runtime} = input;
  const status = remembered(input, container, old);
  const runsToItsEnd = kind === 'init' && !isRestartableInit(container);
  return runsToItsEnd && status.state.waiting !== undefined && wasInitialized(pod, runtime)
    ? {...status, state: {terminated: EXITED_UNSEEN}}
    : status;
}

/** What the status before tells of a container that is gone. */
function remembered(
  input: ContainerStatusInput,
  container: Container,
  old: ContainerStatus | undefined,
): Observed {
  const {pod, restartsAll} = input;
  const fresh = notMade(input, container);
  if (old === undefined) return fresh;
  const {state = {}} = old;
  const known = state.terminated === undefined ? {...fresh, ...past(pod, old)} : {...old, state};
  return restartsAll && state.waiting === undefined ? {...known, ...reset(old)} : known;
}

function notMade(input: ContainerStatusInput, container: Container): Observed {
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

/** A container that was removed so that all begin anew. */
function reset({restartCount}: ContainerStatus): Pick<Observed, 'state' | 'lastState' | 'restartCount'> {
  const why = {reason: RESTARTING_ALL_CONTAINERS, message: REMOVED};
  return {
    state: {waiting: why},
    lastState: {terminated: {...why, exitCode: EXIT_CODE_UNKNOWN}},
    restartCount: restartCount + 1,
  };
}

/** What stays of the status before; a container that was running then has ended somehow. */
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

/** An init container that is gone while a regular one exists must have succeeded. */
const EXITED_UNSEEN: ContainerStateTerminated = {
  reason: 'Completed',
  message:
    'Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally',
  exitCode: 0,
};

function unknownEnd(message: string, reason = 'ContainerStatusUnknown'): ContainerStateTerminated {
  return {reason, message, exitCode: EXIT_CODE_UNKNOWN};
}

/** A container that should start but could not is waiting, and how it ended before is its last state. */
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
  if (failure === undefined || done || !shouldBeStarted(pod, container, newest)) return undefined;
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
      return {running: {startedAt: timeOf(cri.startedAt)}};
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
    input.told?.get(fullId(input, instance)) ?? truncate(said.join(': '), messageBytes(input.pod));
  return {
    exitCode,
    ...(reason !== '' && {reason}),
    ...(words !== '' && {message: words}),
    startedAt: timeOf(startedAt),
    finishedAt: timeOf(finishedAt),
    containerID: fullId(input, instance),
  };
}

/** Each container's share of what the messages of a pod may take (status_manager.go normalizeStatus). */
function messageBytes({spec}: Pod): number {
  return Math.floor(MAX_MESSAGES_BYTES / (spec.containers.length + (spec.initContainers?.length ?? 0)));
}

/** At most so many bytes; a character that the cut goes through is left out. */
function truncate(text: string, bytes: number): string {
  const buffer = Buffer.from(text);
  if (buffer.length <= bytes) return text;
  return new TextDecoder().decode(buffer.subarray(0, bytes), {stream: true});
}

/** As the Pod asks for them; which of those that are to be are recursively read-only depends on the runtime handler. */
function volumeMountsOf(
  {volumeMounts = []}: Container,
  {pod, runtime, node}: ContainerStatusInput,
): Pick<ContainerStatus, 'volumeMounts'> {
  if (volumeMounts.length === 0) return {};
  // Of a pod without a sandbox it isn't known yet what its RuntimeClass means.
  const runtimeHandler = runtime.sandboxes[0]?.runtimeHandler ?? pod.spec.runtimeClassName ?? '';
  const isPossible = mountsRecursivelyReadOnly({pod, node, runtimeHandler});
  const isRecursive = ({recursiveReadOnly = 'Disabled'}: VolumeMount): boolean =>
    isPossible && recursiveReadOnly !== 'Disabled';
  return {
    volumeMounts: volumeMounts.map((mount): VolumeMountStatus => {
      const {name, mountPath, readOnly} = mount;
      if (readOnly !== true) return {name, mountPath};
      return {name, mountPath, readOnly, recursiveReadOnly: isRecursive(mount) ? 'Enabled' : 'Disabled'};
    }),
  };
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

/** The same of milliseconds. */
export function timeOfMs(ms: number): string {
  return timeOf(BigInt(Math.floor(ms)) * 1_000_000n);
}
