import {isRestartableInit} from '../../api/resource-list.js';
import type {Container, Pod} from '../../api/v1.js';
import type {ContainerToKill} from '../container/pod-actions.js';
import {
  findContainerStatus,
  type RuntimeContainerStatus,
  type RuntimePodStatus,
} from '../container/pod-status.js';
import type {PodAllocation} from '../container/pod-allocation.js';
import type {ProbeResults} from '../container/probe-results.js';
import {resizeNeedsRestart} from './compute-resize.js';
import {faultOf, killForResize, killOfUnknown, STARTUP_FAULT, type Fault} from './container-fault.js';
import {effectiveRestartPolicy, exitCode, shouldBeStarted} from './restart-policy.js';

/** What is decided by within a sandbox that stays. */
export interface Situation {
  readonly pod: Pod;
  readonly status: RuntimePodStatus;
  readonly probes: ProbeResults;
  readonly actuated: PodAllocation | undefined;
}

/** What happens to a pod's init containers, and whether its containers may follow. */
export interface InitActions {
  /** `failed` ends the pod. */
  readonly outcome: 'initialized' | 'pending' | 'failed';
  /** In the Pod's order. */
  readonly toStart: readonly Container[];
  readonly toKill: readonly ContainerToKill[];
}

/** What follows from the newest instance of one init container. */
interface InitStep {
  readonly container: Container;
  /** It has done its part: the next one may start. */
  readonly done?: boolean;
  /** It is started, or started again. */
  readonly start?: boolean;
  readonly kill?: ContainerToKill;
  /** It failed for good, and the pod with it. */
  readonly fatal?: boolean;
}

/**
 * What to do about the init containers (kuberuntime computeInitContainerActions). The last one that has an instance
 * says how far the pod has come, since earlier instances may have been removed; of those before it only sidecars still
 * matter: they are kept running.
 */
export function computeInitActions(situation: Situation): InitActions {
  const {pod, status} = situation;
  const {initContainers = []} = pod.spec;
  const instanceOf = ({name}: Container): RuntimeContainerStatus | undefined =>
    findContainerStatus(status, name);
  const front = frontOf(pod, status, initContainers);
  const sidecars = initContainers
    .slice(0, Math.max(front, 0))
    .filter(isRestartableInit)
    .map((container) => sidecarStep(situation, container, instanceOf(container)));
  const last = initContainers[front];
  const newest = last && instanceOf(last);
  const current = newest && frontStep(situation, last, newest);
  if (current?.fatal === true) return {outcome: 'failed', toStart: [], toKill: []};

  const advanced = current === undefined || current.done === true;
  const next = advanced ? initContainers.slice(front + 1, front + 2) : [];
  const steps = current === undefined ? sidecars : [...sidecars, current];
  return {
    outcome: advanced && next.length === 0 ? 'initialized' : 'pending',
    toStart: [...steps.filter(({start}) => start).map(({container}) => container), ...next],
    toKill: steps.flatMap(({kill}) => kill ?? []),
  };
}

/** Where the last init container stands that has an instance, -1 without one; behind them all when they are over. */
function frontOf(pod: Pod, status: RuntimePodStatus, initContainers: readonly Container[]): number {
  if (hasContainer(pod, status)) return initContainers.length;
  return initContainers.findLastIndex(({name}) => findContainerStatus(status, name) !== undefined);
}

/**
 * One of the pod's containers is there or runs: then all init containers must have succeeded. One that exited says
 * nothing, as it may be of the sandbox before.
 */
function hasContainer({spec}: Pod, status: RuntimePodStatus): boolean {
  return spec.containers.some(({name}) => {
    const state = findContainerStatus(status, name)?.state;
    return state === 'CONTAINER_CREATED' || state === 'CONTAINER_RUNNING';
  });
}

/** The last init container that has an instance. */
function frontStep(situation: Situation, container: Container, newest: RuntimeContainerStatus): InitStep {
  return isRestartableInit(container)
    ? sidecarStep(situation, container, newest)
    : initStep(situation.pod, container, newest);
}

/** An init container that runs to its end. */
function initStep(pod: Pod, container: Container, newest: RuntimeContainerStatus): InitStep {
  switch (newest.state) {
    case 'CONTAINER_CREATED':
      return {container, start: true};
    case 'CONTAINER_RUNNING':
      return {container};
    case 'CONTAINER_EXITED':
      if (exitCode(newest) === 0 && newest.cri.reason !== 'OOMKilled') return {container, done: true};
      return shouldBeStarted(pod, container, newest) ? {container, start: true} : {container, fatal: true};
    case 'CONTAINER_UNKNOWN':
      return effectiveRestartPolicy(pod, container) === 'Never'
        ? {container, fatal: true}
        : {container, start: true, kill: killOfUnknown('Init container', newest)};
  }
}

/** An init container that goes on beside the others; it is always brought back. */
function sidecarStep(
  situation: Situation,
  container: Container,
  newest: RuntimeContainerStatus | undefined,
): InitStep {
  switch (newest?.state) {
    case undefined:
    case 'CONTAINER_CREATED':
    case 'CONTAINER_EXITED':
      return {container, start: true};
    case 'CONTAINER_RUNNING':
      return runningSidecarStep(situation, container, newest);
    case 'CONTAINER_UNKNOWN':
      return {container, start: true, kill: killOfUnknown('Init container', newest)};
  }
}

/** It counts as started without a startup probe, or when that has succeeded. */
function runningSidecarStep(
  {pod, probes, actuated}: Situation,
  container: Container,
  newest: RuntimeContainerStatus,
): InitStep {
  const startup = container.startupProbe === undefined ? 'Success' : probes.startup.get(newest.id);
  if (startup === 'Failure') return {container, start: true, kill: killOfFaulty(newest, STARTUP_FAULT)};
  if (startup !== 'Success') return {container};
  const fault = faultOf(container, newest, probes);
  if (fault === undefined)
    return resizeNeedsRestart(pod, container, actuated)
      ? {container, done: true, start: true, kill: killForResize(newest)}
      : {container, done: true};
  return {container, done: true, start: true, kill: killOfFaulty(newest, fault)};
}

function killOfFaulty({id, name}: RuntimeContainerStatus, {reason, text}: Fault): ContainerToKill {
  return {id, name, message: `Init container ${name} ${text}`, reason};
}
