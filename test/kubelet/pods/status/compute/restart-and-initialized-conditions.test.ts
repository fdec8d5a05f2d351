import {expect, test} from 'vitest';
import type {Container, ContainerRestartRule, Pod} from '../../../../../src/api/types/v1-pod.js';
import type {PodCondition, PodStatus} from '../../../../../src/api/types/v1-status.js';
import type {RuntimeContainerStatus} from '../../../../../src/kubelet/contract/runtime-pod-status.js';
import {aContainer, aPod} from '../../../../fakes/a-pod.js';
import {anInstance, aRuntimePod} from '../../../../fakes/a-runtime-pod.js';
import {computeStatus} from './compute-status.js';

interface Options {
  readonly previous?: PodStatus;
  readonly waitingContainer?: string;
  readonly isTerminal?: boolean;
}

function status(
  pod: Pod,
  instances: readonly RuntimeContainerStatus[],
  {waitingContainer, ...input}: Options = {},
): PodStatus {
  return computeStatus({
    pod,
    runtime: aRuntimePod(instances),
    reasons: new Map(
      waitingContainer === undefined
        ? []
        : [[waitingContainer, {reason: 'CrashLoopBackOff', message: 'back-off'}]],
    ),
    ...input,
  });
}

function conditionOf({conditions = []}: PodStatus, type: string): Partial<PodCondition> | undefined {
  const {lastTransitionTime, ...facts} = conditions.find((condition) => condition.type === type) ?? {};
  return lastTransitionTime === undefined ? undefined : facts;
}

const rule = (action: NonNullable<ContainerRestartRule['action']>): ContainerRestartRule => ({
  action,
  exitCodes: {operator: 'In', values: [42]},
});

const TRIGGER = aContainer({
  name: 'trigger',
  restartPolicy: 'Never',
  restartPolicyRules: [rule('RestartAllContainers')],
});
const exit42 = anInstance('trigger', 'CONTAINER_EXITED', {exitCode: 42});
const runs = anInstance('main', 'CONTAINER_RUNNING');

const RESTARTING = {
  type: 'AllContainersRestarting',
  status: 'True',
  reason: 'RestartAllContainersStarted',
  message: 'container exited with restart policy rule',
};
const NOT_RESTARTING = {type: 'AllContainersRestarting', status: 'False'};

// Proves: ContainerRestartRule.action
test.each<[string, Partial<Pod['spec']>]>([
  ['a container', {containers: [aContainer(), TRIGGER]}],
  ['an init container', {initContainers: [TRIGGER]}],
])(
  '%s with a RestartAllContainers rule sets AllContainersRestarting while its matching exit is the newest instance',
  (_title, spec) => {
    const pod = aPod(spec);
    const restarting = (...instances: readonly RuntimeContainerStatus[]): unknown =>
      conditionOf(status(pod, instances), 'AllContainersRestarting');

    expect(restarting(runs, exit42)).toEqual(RESTARTING);
    expect(restarting(exit42)).toEqual(RESTARTING);
    expect(restarting(runs, anInstance('trigger', 'CONTAINER_EXITED'))).toEqual(NOT_RESTARTING);
    expect(restarting(runs, anInstance('trigger', 'CONTAINER_RUNNING'), exit42)).toEqual(NOT_RESTARTING);
    expect(restarting()).toEqual(NOT_RESTARTING);
    expect(status(pod, [runs, exit42]).conditions?.map(({type}) => type)).toEqual([
      'PodReadyToStartContainers',
      'Initialized',
      'Ready',
      'ContainersReady',
      'PodScheduled',
      'AllContainersRestarting',
    ]);
  },
);

test('AllContainersRestarting stays True until no container is left', () => {
  const pod = aPod({containers: [aContainer(), TRIGGER]});
  const started = status(pod, [runs, exit42]);
  const restarting = (...instances: readonly RuntimeContainerStatus[]): unknown =>
    conditionOf(status(pod, instances, {previous: started}), 'AllContainersRestarting');

  expect(restarting(exit42)).toEqual(RESTARTING);
  expect(restarting(runs)).toEqual(RESTARTING);
  expect(restarting()).toEqual(NOT_RESTARTING);
});

test.each([
  [0, 'PodCompleted'],
  [1, 'PodFailed'],
])('a terminated pod with the exit code %i is not restarting: %s', (exitCode, reason) => {
  const pod = aPod({restartPolicy: 'Never', initContainers: [TRIGGER]});
  const ended = status(
    pod,
    [
      anInstance('main', 'CONTAINER_EXITED', {exitCode}),
      anInstance('trigger', 'CONTAINER_EXITED', {exitCode: exitCode * 42}),
    ],
    {isTerminal: true},
  );

  expect(conditionOf(ended, 'AllContainersRestarting')).toEqual({...NOT_RESTARTING, reason});
});

test('a pod without a RestartAllContainers rule has no AllContainersRestarting condition', () => {
  const pod = aPod({containers: [aContainer(), {...TRIGGER, restartPolicyRules: [rule('Restart')]}]});

  expect(conditionOf(status(pod, [runs, exit42]), 'AllContainersRestarting')).toBeUndefined();
});

const side: Container = aContainer({name: 'side', restartPolicy: 'Always'});
const sideRuns = anInstance('side', 'CONTAINER_RUNNING');
const sideCrashed = anInstance('side', 'CONTAINER_EXITED', {exitCode: 1});
const crashed = anInstance('main', 'CONTAINER_EXITED', {exitCode: 1});

test('an initialized pod stays Initialized when a sidecar crashes', () => {
  const pod = aPod({initContainers: [side]});
  const previous = status(pod, [sideRuns]);
  expect(conditionOf(previous, 'Initialized')).toEqual({type: 'Initialized', status: 'True'});

  const later = status(pod, [sideCrashed], {previous});
  expect(conditionOf(later, 'Initialized')).toEqual({type: 'Initialized', status: 'True'});
});

test('a container that waits for its restart does not make the pod Initialized', () => {
  const pod = aPod({initContainers: [side]});
  const previous = status(pod, [sideCrashed]);

  const later = status(pod, [crashed, sideCrashed], {previous, waitingContainer: 'main'});
  expect(conditionOf(later, 'Initialized')).toEqual({
    type: 'Initialized',
    status: 'False',
    reason: 'ContainersNotInitialized',
    message: 'containers with incomplete status: [side]',
  });
});

test('AllContainersRestarting is the only condition of the kubelet without observedGeneration', () => {
  const {metadata, ...rest} = aPod({containers: [TRIGGER]});
  const pod = {...rest, metadata: {...metadata, generation: 2}};
  const {conditions = []} = status(pod, [anInstance('trigger', 'CONTAINER_RUNNING')]);
  const without = conditions.filter(({observedGeneration}) => observedGeneration === undefined);
  expect(without.map(({type}) => type)).toEqual(['AllContainersRestarting']);
});
