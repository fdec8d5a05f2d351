import {isRestartableInitContainer} from '../../../../api/pod-containers.js';
import type {Container, Pod} from '../../../../api/types/v1-pod.js';
import type {ContainerToKill} from '../../../contract/pod-actions.js';
import {
  findContainerStatus,
  type RuntimeContainerStatus,
  type RuntimePodStatus,
} from '../../../contract/runtime-pod-status.js';
import type {PodAllocation} from '../../../contract/resources/actuated-resources.js';
import type {ProbeResults} from '../../../contract/probe-results.js';
import {shouldRestartForResize} from './compute-resize-actions.js';
import {
  computeKillReason,
  createResizeKill,
  createUnknownStateKill,
  STARTUP_PROBE_FAILED,
  type ContainerKillReason,
} from './container-kill-reason.js';
import {effectiveRestartPolicy, exitCode, shouldStartContainer} from './restart-policy.js';

/** Observed state that the actions within an existing sandbox are computed from. */
export interface ComputeActionsInput {
  readonly pod: Pod;
  readonly status: RuntimePodStatus;
  readonly probes: ProbeResults;
  readonly actuated: PodAllocation | undefined;
}

/** Actions for the init containers of a pod, and whether its containers may start. */
export interface InitActions {
  /** `failed` means that the pod has failed. */
  readonly state: 'initialized' | 'pending' | 'failed';
  /** In the order of the pod spec. */
  readonly toStart: readonly Container[];
  readonly toKill: readonly ContainerToKill[];
}

/** Decision about one init container, based on its newest instance. */
interface InitStep {
  readonly container: Container;
  /** The next init container may start. */
  readonly done?: boolean;
  /** The container must be started or restarted. */
  readonly start?: boolean;
  readonly kill?: ContainerToKill;
  /** The container failed and is not restarted, so the pod has failed. */
  readonly fatal?: boolean;
}

/**
 * Computes the actions for init containers (kuberuntime computeInitContainerActions). The last init container with an
 * instance shows the progress of the pod, because earlier instances may have been removed. Of the ones before it only
 * sidecars are restarted.
 */
export function computeInitActions(input: ComputeActionsInput): InitActions {
  const {pod, status} = input;
  const {initContainers = []} = pod.spec;
  const instanceOf = ({name}: Container): RuntimeContainerStatus | undefined =>
    findContainerStatus(status, name);
  const frontIndex = findFrontIndex(pod, status, initContainers);
  const sidecars = initContainers
    .slice(0, Math.max(frontIndex, 0))
    .filter(isRestartableInitContainer)
    .map((container) => sidecarStep(input, container, instanceOf(container)));
  const last = initContainers[frontIndex];
  const newest = last && instanceOf(last);
  const current = newest && lastStep(input, last, newest);
  if (current?.fatal === true) return {state: 'failed', toStart: [], toKill: []};

  const advanced = current === undefined || current.done === true;
  const next = advanced ? initContainers.slice(frontIndex + 1, frontIndex + 2) : [];
  const steps = current === undefined ? sidecars : [...sidecars, current];
  return {
    state: advanced && next.length === 0 ? 'initialized' : 'pending',
    toStart: [...steps.filter(({start}) => start).map(({container}) => container), ...next],
    toKill: steps.flatMap(({kill}) => kill ?? []),
  };
}

/**
 * Returns the index of the last init container with an instance: -1 without any, one past the end after initialization.
 */
function findFrontIndex(pod: Pod, status: RuntimePodStatus, initContainers: readonly Container[]): number {
  if (hasLiveContainer(pod, status)) return initContainers.length;
  return initContainers.findLastIndex(({name}) => findContainerStatus(status, name) !== undefined);
}

/**
 * Reports whether a container of the pod is created or running, which implies that all init containers succeeded. An
 * exited container does not count, because it may belong to an earlier sandbox.
 */
function hasLiveContainer({spec}: Pod, status: RuntimePodStatus): boolean {
  return spec.containers.some(({name}) => {
    const state = findContainerStatus(status, name)?.state;
    return state === 'CONTAINER_CREATED' || state === 'CONTAINER_RUNNING';
  });
}

/** Returns the decision about the last init container with an instance. */
function lastStep(
  input: ComputeActionsInput,
  container: Container,
  newest: RuntimeContainerStatus,
): InitStep {
  return isRestartableInitContainer(container)
    ? sidecarStep(input, container, newest)
    : initStep(input, container, newest);
}

/** Returns the decision about an init container that runs to completion. */
function initStep(
  {pod, actuated}: ComputeActionsInput,
  container: Container,
  newest: RuntimeContainerStatus,
): InitStep {
  switch (newest.state) {
    case 'CONTAINER_CREATED':
      return {container, start: true};
    case 'CONTAINER_RUNNING':
      return shouldRestartForResize(pod, container, actuated)
        ? {container, start: true, kill: createResizeKill(newest)}
        : {container};
    case 'CONTAINER_EXITED':
      if (exitCode(newest) === 0 && newest.cri.reason !== 'OOMKilled') return {container, done: true};
      return shouldStartContainer(pod, container, newest)
        ? {container, start: true}
        : {container, fatal: true};
    case 'CONTAINER_UNKNOWN':
      return effectiveRestartPolicy(pod, container) === 'Never'
        ? {container, fatal: true}
        : {container, start: true, kill: createUnknownStateKill('Init container', newest)};
  }
}

/** Returns the decision about a sidecar, which is always restarted. */
function sidecarStep(
  input: ComputeActionsInput,
  container: Container,
  newest: RuntimeContainerStatus | undefined,
): InitStep {
  switch (newest?.state) {
    case undefined:
    case 'CONTAINER_CREATED':
    case 'CONTAINER_EXITED':
      return {container, start: true};
    case 'CONTAINER_RUNNING':
      return runningSidecarStep(input, container, newest);
    case 'CONTAINER_UNKNOWN':
      return {container, start: true, kill: createUnknownStateKill('Init container', newest)};
  }
}

/**
 * Returns the decision about a running sidecar, which has started if it has no startup probe or the probe succeeded.
 */
function runningSidecarStep(
  {pod, probes, actuated}: ComputeActionsInput,
  container: Container,
  newest: RuntimeContainerStatus,
): InitStep {
  const startup = container.startupProbe === undefined ? 'Success' : probes.startup.get(newest.id);
  if (startup === 'Failure')
    return {container, start: true, kill: toContainerKill(newest, STARTUP_PROBE_FAILED)};
  if (startup !== 'Success') return {container};
  const killReason = computeKillReason(container, newest, probes);
  if (killReason === undefined)
    return shouldRestartForResize(pod, container, actuated)
      ? {container, done: true, start: true, kill: createResizeKill(newest)}
      : {container, done: true};
  return {container, done: true, start: true, kill: toContainerKill(newest, killReason)};
}

function toContainerKill(
  {id, name}: RuntimeContainerStatus,
  {reason, text}: ContainerKillReason,
): ContainerToKill {
  return {id, name, message: `Init container ${name} ${text}`, reason};
}
