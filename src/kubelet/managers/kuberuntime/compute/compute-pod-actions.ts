import type {Container, EphemeralContainer, Pod} from '../../../../api/types/v1-pod.js';
import type {ContainerToKill, PodActions} from '../../../contract/pod-actions.js';
import {
  findContainerStatus,
  type RuntimeContainerStatus,
  type RuntimePodStatus,
} from '../../../contract/runtime-pod-status.js';
import type {PodAllocation} from '../../../contract/resources/actuated-resources.js';
import {NO_PROBE_RESULTS, type ProbeResults} from '../../../contract/probe-results.js';
import type {ResizeActions} from '../../../contract/resources/resize-actions.js';
import {computeInitActions, type ComputeActionsInput} from './compute-init-actions.js';
import {computeResizeActions, shouldRestartForResize} from './compute-resize-actions.js';
import {computeKillReason, createResizeKill, createUnknownStateKill} from './container-kill-reason.js';
import {computeContainersToReset, shouldRestartAllContainers} from './restart-all-containers.js';
import {effectiveRestartPolicy, shouldStartContainer} from './restart-policy.js';
import {sandboxChanged} from './sandbox-changed.js';

/** Options of computePodActions. */
export interface ComputePodActionsOptions {
  /** True if the pod status says that all containers restart, which the runtime's state may no longer show. */
  readonly restartAllContainers?: boolean;
  /** Resources last actuated for the pod and its containers. */
  readonly actuated?: PodAllocation | undefined;
}

/**
 * Computes the actions that make the pod run as specified (kuberuntime computePodActions). Pure; returns no further
 * actions once they have been executed.
 */
export function computePodActions(
  pod: Pod,
  status: RuntimePodStatus,
  probes: ProbeResults = NO_PROBE_RESULTS,
  {
    restartAllContainers = shouldRestartAllContainers(pod, status, undefined),
    actuated,
  }: ComputePodActionsOptions = {},
): PodActions {
  const {changed, attempt, sandboxId} = sandboxChanged(pod, status);
  const keep: PodActions = {
    killPod: false,
    createSandbox: false,
    sandboxId,
    attempt,
    ephemeralContainersToStart: [],
    initContainersToStart: [],
    containersToStart: [],
    containersToKill: [],
    containersToReset: [],
    resize: undefined,
  };
  if (restartAllContainers)
    return {
      ...keep,
      killPod: changed,
      createSandbox: changed,
      containersToReset: computeContainersToReset(pod, status),
    };
  const actions = changed
    ? {...keep, ...actionsForNewSandbox(pod, status, attempt)}
    : actionsWithinSandbox(keep, {pod, status, probes, actuated});
  return {...actions, resize: computeResize(actions, {pod, status, actuated})};
}

/**
 * Computes the resize that accompanies the other actions. A pod that terminates is not resized; containers that start
 * get their new resources.
 */
function computeResize(
  {killPod, createSandbox, containersToKill, ...starts}: PodActions,
  {pod, status, actuated}: Pick<ComputeActionsInput, 'pod' | 'status' | 'actuated'>,
): ResizeActions | undefined {
  if (killPod && !createSandbox) return undefined;
  const namesOf = (items: readonly {readonly name: string}[]): ReadonlySet<string> =>
    new Set(items.map(({name}) => name));
  return computeResizeActions(pod, status, actuated, {
    killed: namesOf(killPod ? status.containers : containersToKill),
    started: namesOf([...starts.initContainersToStart, ...starts.containersToStart]),
  });
}

/**
 * Returns the actions without a usable sandbox: kill all, and start again in a new sandbox unless the pod has finished.
 */
function actionsForNewSandbox(pod: Pod, status: RuntimePodStatus, attempt: number): Partial<PodActions> {
  const finished: Partial<PodActions> = {killPod: true};
  // Without any container the sandbox itself may have failed, so that another attempt makes sense.
  if (pod.spec.restartPolicy === 'Never' && attempt !== 0 && status.containers.length > 0) return finished;

  const containersToStart = pod.spec.containers.filter((container) => !hasSucceeded(pod, container, status));
  if (containersToStart.length === 0 && hasAnyRegularContainerCreated(pod, status)) return finished;

  const fresh: Partial<PodActions> = {killPod: true, createSandbox: true};
  const [firstInit] = pod.spec.initContainers ?? [];
  return firstInit === undefined
    ? {...fresh, containersToStart}
    : {...fresh, initContainersToStart: [firstInit]};
}

/** Reports whether a container succeeded and must not run again; one that never started has not (containerSucceeded). */
function hasSucceeded(pod: Pod, container: Container, status: RuntimePodStatus): boolean {
  const newest = findContainerStatus(status, container.name);
  if (newest?.state !== 'CONTAINER_EXITED' || newest.cri.exitCode !== 0) return false;
  return effectiveRestartPolicy(pod, container) === 'OnFailure';
}

/**
 * Reports whether any container was ever created, which implies that all init containers had run
 * (HasAnyRegularContainerCreated).
 */
export function hasAnyRegularContainerCreated({spec}: Pod, status: RuntimePodStatus): boolean {
  return spec.containers.some(({name}) => {
    const state = findContainerStatus(status, name)?.state;
    return state !== undefined && state !== 'CONTAINER_UNKNOWN';
  });
}

/** Returns the actions within an existing sandbox. */
function actionsWithinSandbox(keep: PodActions, input: ComputeActionsInput): PodActions {
  const {pod, status} = input;
  const init = computeInitActions(input);
  const kept: PodActions = {...keep, initContainersToStart: init.toStart, containersToKill: init.toKill};
  if (init.state === 'failed') return {...kept, killPod: true};
  const started = {...kept, ephemeralContainersToStart: ephemeralContainersNeverStarted(pod, status)};
  if (init.state === 'pending') return started;

  const decisions = pod.spec.containers.map((container) =>
    decide(input, container, findContainerStatus(status, container.name)),
  );
  // When no container runs or will run, sidecars are stopped too.
  if (decisions.every((decision) => !decision.keep && decision.start === undefined))
    return {
      ...kept,
      killPod: true,
      initContainersToStart: [],
      containersToKill: withKills(init.toKill, decisions),
    };
  return {
    ...started,
    containersToStart: decisions.flatMap(({start}) => start ?? []),
    containersToKill: withKills(init.toKill, decisions),
  };
}

function ephemeralContainersNeverStarted(
  {spec}: Pod,
  status: RuntimePodStatus,
): readonly EphemeralContainer[] {
  return (spec.ephemeralContainers ?? []).filter(({name}) => findContainerStatus(status, name) === undefined);
}

function withKills(
  kills: readonly ContainerToKill[],
  decisions: readonly Decision[],
): readonly ContainerToKill[] {
  return [...kills, ...decisions.flatMap(({kill}) => kill ?? [])];
}

/** Decision about one container. */
interface Decision {
  readonly keep?: boolean;
  readonly start?: Container;
  readonly kill?: ContainerToKill;
}

function decide(
  input: ComputeActionsInput,
  container: Container,
  status: RuntimeContainerStatus | undefined,
): Decision {
  if (status?.state === 'CONTAINER_RUNNING') return decideRunning(input, container, status);
  if (!shouldStartContainer(input.pod, container, status)) return {};
  if (status?.state !== 'CONTAINER_UNKNOWN') return {start: container};
  return {start: container, kill: createUnknownStateKill('Container', status)};
}

/** Returns the decision about a running container: keep it, kill it or restart it. */
function decideRunning(
  {pod, probes, actuated}: ComputeActionsInput,
  container: Container,
  status: RuntimeContainerStatus,
): Decision {
  const killReason = computeKillReason(container, status, probes);
  if (killReason === undefined)
    return shouldRestartForResize(pod, container, actuated)
      ? {start: container, kill: createResizeKill(status)}
      : {keep: true};
  const restart = killReason.reason === 'Changed' || effectiveRestartPolicy(pod, container) !== 'Never';
  const message = `Container ${container.name} ${killReason.text}${restart ? ', will be restarted' : ''}`;
  const kill = {id: status.id, name: container.name, message, reason: killReason.reason};
  return restart ? {start: container, kill} : {kill};
}
