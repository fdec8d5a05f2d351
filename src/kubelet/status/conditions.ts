import {isRestartableInit} from '../../api/resource-list.js';
import type {Container, Pod} from '../../api/v1.js';
import type {ContainerStatus, PodCondition, PodPhase} from '../../api/v1-status.js';
import type {RuntimePodStatus} from '../container/pod-status.js';
import {areAllContainersRemoved, couldRestartAllContainers} from '../kuberuntime/compute-restart-all.js';
import {sandboxChanged} from '../kuberuntime/sandbox-changed.js';

/** A pod that has not ended by itself says why, from then on. */
export const DISRUPTION_TARGET = 'DisruptionTarget';

type Facts = Pick<PodCondition, 'status' | 'reason' | 'message'>;

/** A condition's type, and what is said of it. */
type ConditionFacts = readonly [type: string, facts: Facts];

/** How a pod's resize stands: of each condition that holds, why. */
export type ResizeConditions = Readonly<
  Partial<Record<'PodResizePending' | 'PodResizeInProgress', Pick<Facts, 'reason' | 'message'>>>
>;

/** What conditions are made of. */
export interface ConditionInput {
  readonly pod: Pod;
  readonly runtime: RuntimePodStatus;
  readonly phase: PodPhase;
  readonly initStatuses: readonly ContainerStatus[];
  readonly statuses: readonly ContainerStatus[];
  readonly previous: readonly PodCondition[];
  /** All containers are to begin anew (shouldRestartAllContainers). */
  readonly restartsAll: boolean;
  readonly resize?: ResizeConditions | undefined;
  /** RFC 3339. */
  readonly now: string;
}

/** Their transition is that of the reason (updatedPodResizeCondition). */
const RESIZE_TYPES = {PodResizePending: true, PodResizeInProgress: true} as const satisfies Record<
  keyof ResizeConditions,
  true
>;

/** What the conditions of a pod tell of its resize. */
export function resizeConditionsOf(conditions: readonly PodCondition[] = []): ResizeConditions {
  return Object.fromEntries(
    conditions
      .filter(({type}) => type in RESIZE_TYPES)
      .map(({type, reason, message}) => [
        type,
        {...(reason !== undefined && {reason}), ...(message !== undefined && {message})},
      ]),
  );
}

/** The kubelet's own conditions in its order; a transition time is kept until the status flips. */
export function podConditions(input: ConditionInput): readonly PodCondition[] {
  const facts: readonly ConditionFacts[] = [
    ...Object.entries(input.resize ?? {}).map(([type, why]) => [type, {status: 'True', ...why}] as const),
    [
      'PodReadyToStartContainers',
      {status: sandboxChanged(input.pod, input.runtime).changed ? 'False' : 'True'},
    ],
    ['Initialized', initialized(input)],
    ...readyConditions(input),
    ['PodScheduled', {status: 'True'}],
    ...(couldRestartAllContainers(input.pod)
      ? [['AllContainersRestarting', allContainersRestarting(input)] as const]
      : []),
  ];
  const own = dated(facts, input.previous, input.now);
  if (ended(input.phase) === undefined) return own;
  return [...input.previous.filter(({type}) => type === DISRUPTION_TARGET), ...own];
}

/** The conditions with the time since when each holds: that of before, until its status flips. */
export function dated(
  facts: readonly ConditionFacts[],
  previous: readonly PodCondition[],
  now: string,
): readonly PodCondition[] {
  return facts.map(([type, fact]) => {
    const before = previous.find((condition) => condition.type === type);
    const isSame =
      before?.status === fact.status && (!(type in RESIZE_TYPES) || before.reason === fact.reason);
    const kept = isSame ? before.lastTransitionTime : undefined;
    return {type, ...fact, lastTransitionTime: kept ?? now};
  });
}

type ReadyInput = Pick<ConditionInput, 'pod' | 'phase' | 'initStatuses' | 'statuses'>;

/** What follows from how ready the containers are. */
export function readyConditions(input: ReadyInput): readonly ConditionFacts[] {
  const ready = containersReady(input);
  return [
    ['Ready', podReady(input.pod, ready)],
    ['ContainersReady', ready],
  ];
}

/** Ready once what others say of the pod is good too; here nobody says anything (GeneratePodReadyCondition). */
function podReady({spec}: Pod, containers: Facts): Facts {
  const {readinessGates: gates = []} = spec;
  if (containers.status !== 'True' || gates.length === 0) return containers;
  const missing = gates.map(
    ({conditionType}) =>
      `corresponding condition of pod readiness gate ${JSON.stringify(conditionType)} does not exist.`,
  );
  return {status: 'False', reason: 'ReadinessGatesNotReady', message: missing.join(', ')};
}

/**
 * Once a regular container has run, the pod counts as initialized, and what was initialized once stays so
 * (GeneratePodInitializedCondition).
 */
function initialized({pod, phase, initStatuses, statuses, previous}: ConditionInput): Facts {
  if (phase === 'Succeeded') return {status: 'True', reason: 'PodCompleted'};
  const wasInitialized = previous.some(({type, status}) => type === 'Initialized' && status === 'True');
  if (wasInitialized || statuses.some(hasStarted)) return {status: 'True'};
  const incomplete = namesOf(pod.spec.initContainers ?? [], initStatuses, (status, container) =>
    isRestartableInit(container) ? status.started === true : status.ready,
  );
  return unless(incomplete, 'ContainersNotInitialized', 'containers with incomplete status');
}

function hasStarted({state}: ContainerStatus): boolean {
  return (state?.running ?? state?.terminated) !== undefined;
}

/** Sidecars count, other init containers don't (GenerateContainersReadyCondition). */
function containersReady({pod, phase, initStatuses, statuses}: ReadyInput): Facts {
  const over = ended(phase);
  if (over !== undefined) return over;
  const {containers, initContainers = []} = pod.spec;
  const lasting = [...initContainers.filter(isRestartableInit), ...containers];
  const unready = namesOf(lasting, [...initStatuses, ...statuses], ({ready}) => ready);
  return unless(unready, 'ContainersNotReady', 'containers with unready status');
}

/** From the exit that demands it until every container is removed (GenerateAllContainersRestartingCondition). */
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

/** What no longer holds of a pod that has ended. */
function ended(phase: PodPhase): Facts | undefined {
  if (phase === 'Succeeded') return {status: 'False', reason: 'PodCompleted'};
  return phase === 'Failed' ? {status: 'False', reason: 'PodFailed'} : undefined;
}

/** The containers, in the Pod's order, whose status isn't good. */
function namesOf(
  containers: readonly Container[],
  statuses: readonly ContainerStatus[],
  isGood: (status: ContainerStatus, container: Container) => boolean,
): readonly string[] {
  return containers
    .filter((container) => {
      const status = statuses.find(({name}) => name === container.name);
      return status === undefined || !isGood(status, container);
    })
    .map(({name}) => name);
}

function unless(names: readonly string[], reason: string, what: string): Facts {
  if (names.length === 0) return {status: 'True'};
  return {status: 'False', reason, message: `${what}: [${names.join(' ')}]`};
}
