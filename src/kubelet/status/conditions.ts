import type {Pod} from '../../api/v1.js';
import type {ContainerStatus, PodCondition, PodPhase} from '../../api/v1-status.js';
import type {RuntimePodStatus} from '../container/pod-status.js';
import {sandboxChanged} from '../kuberuntime/sandbox-changed.js';

type Facts = Pick<PodCondition, 'status' | 'reason' | 'message'>;

/** What conditions are made of. */
export interface ConditionInput {
  readonly pod: Pod;
  readonly runtime: RuntimePodStatus;
  readonly phase: PodPhase;
  readonly initStatuses: readonly ContainerStatus[];
  readonly statuses: readonly ContainerStatus[];
  readonly previous: readonly PodCondition[];
  /** RFC 3339. */
  readonly now: string;
}

/** The kubelet's own conditions in its order; a transition time is kept until the status flips. */
export function podConditions(input: ConditionInput): readonly PodCondition[] {
  const ready = containersReady(input);
  const facts: readonly (readonly [string, Facts])[] = [
    [
      'PodReadyToStartContainers',
      {status: sandboxChanged(input.pod, input.runtime).changed ? 'False' : 'True'},
    ],
    ['Initialized', initialized(input)],
    ['Ready', ready],
    ['ContainersReady', ready],
    ['PodScheduled', {status: 'True'}],
  ];
  return facts.map(([type, fact]) => {
    const before = input.previous.find((condition) => condition.type === type);
    const kept = before?.status === fact.status ? before.lastTransitionTime : undefined;
    return {type, ...fact, lastTransitionTime: kept ?? input.now};
  });
}

function initialized({pod, phase, initStatuses, statuses}: ConditionInput): Facts {
  if (phase === 'Succeeded') return {status: 'True', reason: 'PodCompleted'};
  const begun = statuses.some(
    ({state, lastState}) => (state?.running ?? state?.terminated ?? lastState?.terminated) !== undefined,
  );
  if (begun) return {status: 'True'};
  const incomplete = (pod.spec.initContainers ?? [])
    .map(({name}) => name)
    .filter((name) => initStatuses.find((status) => status.name === name)?.ready !== true);
  return incomplete.length === 0
    ? {status: 'True'}
    : {
        status: 'False',
        reason: 'ContainersNotInitialized',
        message: `containers with incomplete status: [${incomplete.join(' ')}]`,
      };
}

function containersReady({pod, phase, statuses}: ConditionInput): Facts {
  if (phase === 'Succeeded') return {status: 'False', reason: 'PodCompleted'};
  if (phase === 'Failed') return {status: 'False', reason: 'PodFailed'};
  const unready = pod.spec.containers
    .map(({name}) => name)
    .filter((name) => statuses.find((status) => status.name === name)?.ready !== true);
  return unready.length === 0
    ? {status: 'True'}
    : {
        status: 'False',
        reason: 'ContainersNotReady',
        message: `containers with unready status: [${unready.join(' ')}]`,
      };
}
