import {isRestartableInitContainer, longRunningContainersOf} from '../../../../api/pod-containers.js';
import type {Container, Pod} from '../../../../api/types/v1-pod.js';
import type {ContainerStatus, PodCondition, PodPhase} from '../../../../api/types/v1-status.js';
import {findByName} from '../../../../base/by-name.js';
import type {RuntimePodStatus} from '../../../contract/runtime-pod-status.js';
import {
  areAllContainersRemoved,
  couldRestartAllContainers,
} from '../../../managers/kuberuntime/compute/restart-all-containers.js';
import {isStaticPod} from '../../../sources/static-pod.js';
import {findUnsupportedFeature} from '../../field-support/unsupported-fields.js';
import {sandboxChanged} from '../../../managers/kuberuntime/compute/sandbox-changed.js';

const ALL_CONTAINERS_RESTARTING = 'AllContainersRestarting';
/** Type of the condition that gives the reason of a disruption; it remains after the pod has ended. */
export const DISRUPTION_TARGET = 'DisruptionTarget';

type Facts = Pick<PodCondition, 'status' | 'reason' | 'message'>;

/** Type and facts of a condition. */
type ConditionFacts = readonly [type: string, facts: Facts];

/** Input of computePodConditions. */
export interface ConditionInput {
  readonly pod: Pod;
  readonly runtime: RuntimePodStatus;
  readonly phase: PodPhase;
  readonly initStatuses: readonly ContainerStatus[];
  readonly statuses: readonly ContainerStatus[];
  readonly previous: readonly PodCondition[];
  /** True if all containers restart (shouldRestartAllContainers). */
  readonly restartsAll: boolean;
  /** Conditions of the resize. */
  readonly resize?: readonly PodCondition[] | undefined;
  /** Why the pod waits as if it was not scheduled; undefined if it does not. */
  readonly unschedulable?: string | undefined;
  /** Current time, RFC 3339. */
  readonly now: string;
}

const RESIZE_TYPES: ReadonlySet<string> = new Set(['PodResizePending', 'PodResizeInProgress']);

/** Returns the resize conditions among a pod's conditions. */
export function resizeConditionsOf(conditions: readonly PodCondition[] = []): readonly PodCondition[] {
  return conditions.filter(({type}) => RESIZE_TYPES.has(type));
}

/** Returns the kubelet's own conditions in its order; a transition time changes only with the status. */
export function computePodConditions(input: ConditionInput): readonly PodCondition[] {
  const facts: readonly ConditionFacts[] = [
    ['PodReadyToStartContainers', readyToStartContainers(input)],
    ['Initialized', initialized(input)],
    ...computeReadyConditions(input),
    ['PodScheduled', scheduled(input)],
    ...(couldRestartAllContainers(input.pod)
      ? [[ALL_CONTAINERS_RESTARTING, allContainersRestarting(input)] as const]
      : []),
  ];
  const own = [...(input.resize ?? []), ...createConditions(input.pod, facts, input)];
  if (ended(input.phase) === undefined) return own;
  return [...input.previous.filter(({type}) => type === DISRUPTION_TARGET), ...own];
}

/** Returns the PodReadyToStartContainers condition; a kubelet has no reason for it. */
function readyToStartContainers({pod, runtime}: ConditionInput): Facts {
  if (!sandboxChanged(pod, runtime).changed) return {status: 'True'};
  const unsupported = findUnsupportedFeature(pod);
  if (unsupported === undefined) return {status: 'False'};
  const {reason, message} = unsupported;
  return {status: 'False', reason, message};
}

/** Returns the conditions with their transition times, the previous ones unless the status changed, and the generation. */
function createConditions(
  pod: Pod,
  facts: readonly ConditionFacts[],
  {previous, now}: Pick<ConditionInput, 'previous' | 'now'>,
): readonly PodCondition[] {
  const generation = observedGenerationOf(pod);
  return facts.map(([type, fact]) => {
    const before = previous.find((condition) => condition.type === type);
    const unchangedSince = before?.status === fact.status ? before.lastTransitionTime : undefined;
    return {
      type,
      ...fact,
      lastTransitionTime: unchangedSince ?? now,
      // A kubelet leaves it out of this condition.
      ...(type !== ALL_CONTAINERS_RESTARTING && generation),
    };
  });
}

/** Returns the conditions with new facts about some of them. */
export function replaceConditions(
  pod: Pod,
  conditions: readonly PodCondition[],
  facts: readonly ConditionFacts[],
  now: string,
): readonly PodCondition[] {
  const renewed = createConditions(pod, facts, {previous: conditions, now});
  return conditions.map((before) => renewed.find(({type}) => type === before.type) ?? before);
}

/** Returns the generation of the Pod that a status is about; none for static pods, which have no generation. */
export function observedGenerationOf(pod: Pod): Pick<PodCondition, 'observedGeneration'> {
  const {generation} = pod.metadata;
  return generation === undefined || isStaticPod(pod) ? {} : {observedGeneration: generation};
}

/** Returns the condition of a pod that is on its node, but may lack devices of claims (as kube-scheduler's). */
function scheduled({unschedulable}: ConditionInput): Facts {
  return unschedulable === undefined
    ? {status: 'True'}
    : {status: 'False', reason: 'Unschedulable', message: unschedulable};
}

type ReadyInput = Pick<ConditionInput, 'pod' | 'phase' | 'initStatuses' | 'statuses'>;

/** Returns the conditions that depend on container readiness: Ready and ContainersReady. */
export function computeReadyConditions(input: ReadyInput): readonly ConditionFacts[] {
  const ready = containersReady(input);
  return [
    ['Ready', podReady(input.pod, ready)],
    ['ContainersReady', ready],
  ];
}

/**
 * Returns the Ready condition (GeneratePodReadyCondition). The conditions of readiness gates come from the API server;
 * without one, a pod with readiness gates never becomes ready.
 */
function podReady({spec, status = {}}: Pod, containers: Facts): Facts {
  const {readinessGates: gates = []} = spec;
  if (containers.status !== 'True' || gates.length === 0) return containers;
  const problems = gates.flatMap(({conditionType: type}) => gateProblem(type, status.conditions ?? []) ?? []);
  if (problems.length === 0) return containers;
  return {status: 'False', reason: 'ReadinessGatesNotReady', message: problems.join(', ')};
}

function gateProblem(type: string, conditions: readonly PodCondition[]): string | undefined {
  const found = conditions.find((condition) => condition.type === type);
  const gate = JSON.stringify(type);
  if (found === undefined) return `corresponding condition of pod readiness gate ${gate} does not exist.`;
  if (found.status === 'True') return undefined;
  return `the status of pod readiness gate ${gate} is not "True", but ${found.status}`;
}

/**
 * Returns the Initialized condition. A pod is initialized once a regular container has run, and remains so
 * (GeneratePodInitializedCondition).
 */
function initialized({pod, phase, initStatuses, statuses, previous}: ConditionInput): Facts {
  if (phase === 'Succeeded') return {status: 'True', reason: 'PodCompleted'};
  const wasInitialized = previous.some(({type, status}) => type === 'Initialized' && status === 'True');
  if (wasInitialized || statuses.some(hasStarted)) return {status: 'True'};
  const incomplete = namesOf(pod.spec.initContainers ?? [], initStatuses, (status, container) =>
    isRestartableInitContainer(container) ? status.started === true : status.ready,
  );
  return unless(incomplete, 'ContainersNotInitialized', 'containers with incomplete status');
}

function hasStarted({state}: ContainerStatus): boolean {
  return (state?.running ?? state?.terminated) !== undefined;
}

/**
 * Returns the ContainersReady condition: sidecars count, other init containers do not
 * (GenerateContainersReadyCondition).
 */
function containersReady({pod, phase, initStatuses, statuses}: ReadyInput): Facts {
  const over = ended(phase);
  if (over !== undefined) return over;
  const unready = namesOf(longRunningContainersOf(pod), [...initStatuses, ...statuses], ({ready}) => ready);
  return unless(unready, 'ContainersNotReady', 'containers with unready status');
}

/**
 * Returns the AllContainersRestarting condition: true from the exit that triggers the restart until all containers are
 * removed (GenerateAllContainersRestartingCondition).
 */
function allContainersRestarting({pod, phase, runtime, restartsAll}: ConditionInput): Facts {
  const over = ended(phase);
  if (over !== undefined) return over;
  if (!restartsAll || areAllContainersRemoved(pod, runtime)) return {status: 'False'};
  return {
    status: 'True',
    reason: 'RestartAllContainersStarted',
    message: 'container exited with restart policy rule',
  };
}

/** Returns the facts of a condition that is false once the pod has ended; undefined before. */
function ended(phase: PodPhase): Facts | undefined {
  if (phase === 'Succeeded') return {status: 'False', reason: 'PodCompleted'};
  return phase === 'Failed' ? {status: 'False', reason: 'PodFailed'} : undefined;
}

/** Returns the names of containers, in the Pod's order, without a status that satisfies `isGood`. */
function namesOf(
  containers: readonly Container[],
  statuses: readonly ContainerStatus[],
  isGood: (status: ContainerStatus, container: Container) => boolean,
): readonly string[] {
  return containers
    .filter((container) => {
      const status = findByName(statuses, container.name);
      return status === undefined || !isGood(status, container);
    })
    .map(({name}) => name);
}

function unless(names: readonly string[], reason: string, what: string): Facts {
  if (names.length === 0) return {status: 'True'};
  return {status: 'False', reason, message: `${what}: [${names.join(' ')}]`};
}
