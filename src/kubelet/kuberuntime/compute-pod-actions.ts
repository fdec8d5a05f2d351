import type {Container, Pod} from '../../api/v1.js';
import type {ContainerToKill, PodActions} from '../container/pod-actions.js';
import {
  findContainerStatus,
  type RuntimeContainerStatus,
  type RuntimePodStatus,
} from '../container/pod-status.js';
import type {PodAllocation} from '../container/pod-allocation.js';
import {NO_PROBES, type ProbeResults} from '../container/probe-results.js';
import type {ResizeActions} from '../container/resize-actions.js';
import {computeInitActions, type Situation} from './compute-init-actions.js';
import {computeResize, resizeNeedsRestart} from './compute-resize.js';
import {faultOf, killForResize, killOfUnknown} from './container-fault.js';
import {containersToReset, shouldRestartAllContainers} from './compute-restart-all.js';
import {effectiveRestartPolicy, exitCode, shouldBeStarted} from './restart-policy.js';
import {sandboxChanged} from './sandbox-changed.js';

/** What else is known of a pod. */
export interface PodFacts {
  readonly restartsAll?: boolean;
  readonly actuated?: PodAllocation | undefined;
}

/**
 * What has to be done so that the pod runs as its manifest says (kuberuntime computePodActions): pure, the same for
 * the same facts, and nothing more to do once it is done. `restartsAll`: the pod's status says that all containers
 * are to begin anew; what runs may no longer tell. `actuated`: what the pod and its containers were last given.
 */
export function computePodActions(
  pod: Pod,
  status: RuntimePodStatus,
  probes: ProbeResults = NO_PROBES,
  {restartsAll = shouldRestartAllContainers(pod, status, undefined), actuated}: PodFacts = {},
): PodActions {
  const {changed, attempt, sandboxId} = sandboxChanged(pod, status);
  const keep: PodActions = {
    killPod: false,
    createSandbox: false,
    sandboxId,
    attempt,
    initContainersToStart: [],
    containersToStart: [],
    containersToKill: [],
    containersToReset: [],
    resize: undefined,
  };
  if (restartsAll)
    return {
      ...keep,
      killPod: changed,
      createSandbox: changed,
      containersToReset: containersToReset(pod, status),
    };
  const actions = changed
    ? {...keep, ...actionsForNewSandbox(pod, status, attempt)}
    : withinSandbox(keep, {pod, status, probes, actuated});
  return {...actions, resize: resizeBeside(actions, {pod, status, actuated})};
}

/** A pod that ends is not resized, and one that begins anew begins with what it is to have. */
function resizeBeside(
  {killPod, createSandbox, containersToKill, ...starts}: PodActions,
  {pod, status, actuated}: Pick<Situation, 'pod' | 'status' | 'actuated'>,
): ResizeActions | undefined {
  if (killPod && !createSandbox) return undefined;
  const started = [...starts.initContainersToStart, ...starts.containersToStart].map(({name}) => name);
  const killed = killPod ? status.containers : containersToKill;
  return computeResize(pod, status, actuated, {killed: killed.map(({name}) => name), started});
}

/** Without a usable sandbox everything is killed; and begun afresh, unless the pod has run its course. */
function actionsForNewSandbox(pod: Pod, status: RuntimePodStatus, attempt: number): Partial<PodActions> {
  const finished: Partial<PodActions> = {killPod: true};
  // Without any container the sandbox itself may have failed, which is worth another try.
  if (pod.spec.restartPolicy === 'Never' && attempt !== 0 && status.containers.length > 0) return finished;

  const containersToStart = pod.spec.containers.filter((container) => !hasSucceeded(pod, container, status));
  if (containersToStart.length === 0 && wasInitialized(pod, status)) return finished;

  const fresh: Partial<PodActions> = {killPod: true, createSandbox: true};
  const [firstInit] = pod.spec.initContainers ?? [];
  return firstInit === undefined
    ? {...fresh, containersToStart}
    : {...fresh, initContainersToStart: [firstInit]};
}

/** A container that need not run again after a success. */
function hasSucceeded(pod: Pod, container: Container, status: RuntimePodStatus): boolean {
  const newest = findContainerStatus(status, container.name);
  if (newest === undefined || newest.state === 'CONTAINER_RUNNING') return false;
  return effectiveRestartPolicy(pod, container) === 'OnFailure' && exitCode(newest) === 0;
}

/** A container of the pod was created at some time, hence all init containers had run (HasAnyRegularContainerCreated). */
export function wasInitialized({spec}: Pod, status: RuntimePodStatus): boolean {
  return spec.containers.some(({name}) => {
    const state = findContainerStatus(status, name)?.state;
    return state !== undefined && state !== 'CONTAINER_UNKNOWN';
  });
}

/** What changes inside a sandbox that stays. */
function withinSandbox(keep: PodActions, situation: Situation): PodActions {
  const {pod, status} = situation;
  const init = computeInitActions(situation);
  const started: PodActions = {...keep, initContainersToStart: init.toStart, containersToKill: init.toKill};
  if (init.outcome === 'failed') return {...started, killPod: true};
  if (init.outcome === 'pending') return started;

  const decisions = pod.spec.containers.map((container) =>
    decide(situation, container, findContainerStatus(status, container.name)),
  );
  // With nothing left to run or to wait for, sidecars need not go on either.
  if (decisions.every((decision) => !decision.keep && decision.start === undefined))
    return {
      ...started,
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

function withKills(
  kills: readonly ContainerToKill[],
  decisions: readonly Decision[],
): readonly ContainerToKill[] {
  return [...kills, ...decisions.flatMap(({kill}) => kill ?? [])];
}

/** What happens to one container. */
interface Decision {
  readonly keep?: boolean;
  readonly start?: Container;
  readonly kill?: ContainerToKill;
}

function decide(
  situation: Situation,
  container: Container,
  status: RuntimeContainerStatus | undefined,
): Decision {
  if (status?.state === 'CONTAINER_RUNNING') return decideRunning(situation, container, status);
  if (!shouldBeStarted(situation.pod, container, status)) return {};
  if (status?.state !== 'CONTAINER_UNKNOWN') return {start: container};
  return {start: container, kill: killOfUnknown('Container', status)};
}

/** Why a running container must go, and whether that alone brings a new one. */
function decideRunning(
  {pod, probes, actuated}: Situation,
  container: Container,
  status: RuntimeContainerStatus,
): Decision {
  const fault = faultOf(container, status, probes);
  if (fault === undefined)
    return resizeNeedsRestart(pod, container, actuated)
      ? {start: container, kill: killForResize(status)}
      : {keep: true};
  const restart = fault.reason === 'Changed' || effectiveRestartPolicy(pod, container) !== 'Never';
  const message = `Container ${container.name} ${fault.text}${restart ? ', will be restarted' : ''}`;
  const kill = {id: status.id, name: container.name, message, reason: fault.reason};
  return restart ? {start: container, kill} : {kill};
}
