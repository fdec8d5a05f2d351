import {describe, expect, test} from 'vitest';
import type {
  ContainerState,
  ContainerStatus,
  PodCondition,
  PodPhase,
} from '../../../../../src/api/types/v1-status.js';
import type {RuntimePodStatus} from '../../../../../src/kubelet/contract/runtime-pod-status.js';
import {
  computePodConditions,
  type ConditionInput,
} from '../../../../../src/kubelet/pods/status/compute/pod-conditions.js';
import {aContainer, aPod} from '../../../pod-builders.js';
import {aRuntimePod} from '../../runtime-pod-builders.js';

const RUNS: ContainerState = {running: {}};
const ENDED: ContainerState = {terminated: {exitCode: 1}};
const WAITS: ContainerState = {waiting: {}};

function aStatus(
  name: string,
  state: ContainerState,
  fields: Partial<ContainerStatus> = {},
): ContainerStatus {
  return {name, state, ready: false, started: false, restartCount: 0, image: 'i', imageID: '', ...fields};
}

const POD = aPod({
  initContainers: [aContainer({name: 'init'}), aContainer({name: 'side', restartPolicy: 'Always'})],
  containers: [aContainer({name: 'a'}), aContainer({name: 'b'})],
});

function conditions(input: Partial<ConditionInput>): readonly PodCondition[] {
  return computePodConditions({
    pod: POD,
    runtime: aRuntimePod([]),
    phase: 'Pending',
    initStatuses: [],
    statuses: [],
    previous: [],
    restartsAll: false,
    now: 'now',
    ...input,
  });
}

const find = (all: readonly PodCondition[], type: string): PodCondition | undefined =>
  all.find((condition) => condition.type === type);

describe('a pod is initialized', () => {
  const initDone = aStatus('init', ENDED, {ready: true});

  test.each<[string, Partial<ConditionInput>, string | undefined]>([
    ['not before its init containers', {}, '[init side]'],
    [
      'not while an init container runs, which has started',
      {initStatuses: [aStatus('init', RUNS, {started: true}), aStatus('side', WAITS)]},
      '[init side]',
    ],
    [
      'not before its sidecars have started',
      {initStatuses: [initDone, aStatus('side', RUNS, {ready: true})]},
      '[side]',
    ],
    [
      'when its sidecars have started, ready or not',
      {initStatuses: [initDone, aStatus('side', RUNS, {started: true})]},
      undefined,
    ],
    [
      'not by a container that waits',
      {initStatuses: [initDone], statuses: [aStatus('a', WAITS), aStatus('b', WAITS)]},
      '[side]',
    ],
    ['once one container runs', {statuses: [aStatus('a', RUNS), aStatus('b', WAITS)]}, undefined],
    ['once one container has run', {statuses: [aStatus('a', WAITS), aStatus('b', ENDED)]}, undefined],
  ])('%s', (_title, input, incomplete) => {
    const initialized = find(conditions(input), 'Initialized');

    expect(initialized).toEqual({
      type: 'Initialized',
      lastTransitionTime: 'now',
      ...(incomplete === undefined
        ? {status: 'True'}
        : {
            status: 'False',
            reason: 'ContainersNotInitialized',
            message: `containers with incomplete status: ${incomplete}`,
          }),
    });
  });
});

test('each condition keeps its own time until it flips', () => {
  const before = (type: string, status: 'True' | 'False'): PodCondition => ({
    type,
    status,
    lastTransitionTime: `of ${type}`,
  });
  const previous = [
    before('PodScheduled', 'True'),
    before('Initialized', 'True'),
    before('Ready', 'True'),
    before('ContainersReady', 'False'),
  ];

  const times = conditions({previous}).map(({type, lastTransitionTime}) => [type, lastTransitionTime]);

  expect(times).toEqual([
    ['PodReadyToStartContainers', 'now'],
    ['Initialized', 'of Initialized'],
    ['Ready', 'now'],
    ['ContainersReady', 'of ContainersReady'],
    ['PodScheduled', 'of PodScheduled'],
  ]);
});

test.each<[PodPhase, Partial<PodCondition>]>([
  ['Succeeded', {status: 'True', reason: 'PodCompleted'}],
  ['Failed', {status: 'False', reason: 'ContainersNotInitialized'}],
])('of a pod that is %s it is told so whether it was initialized', (phase, expected) => {
  expect(find(conditions({phase}), 'Initialized')).toMatchObject(expected);
});

test.each<['True' | 'False', RuntimePodStatus]>([
  ['True', aRuntimePod([])],
  ['False', {...aRuntimePod([]), sandboxes: []}],
])('a pod is ready to start containers as its sandbox is: %s', (status, runtime) => {
  expect(find(conditions({runtime}), 'PodReadyToStartContainers')).toMatchObject({status});
});

describe('the containers of a pod are ready', () => {
  const ready = (name: string): ContainerStatus => aStatus(name, RUNS, {ready: true});
  const both = [ready('a'), ready('b')];

  test.each<[string, Partial<ConditionInput>, string | undefined]>([
    [
      'with its sidecars, whatever init containers do',
      {initStatuses: [ready('side')], statuses: both},
      undefined,
    ],
    ['not without its sidecars', {initStatuses: [aStatus('side', RUNS)], statuses: both}, '[side]'],
    ['not without each of them', {initStatuses: [ready('side')], statuses: [ready('b')]}, '[a]'],
  ])('%s', (_title, input, unready) => {
    const found = find(conditions(input), 'ContainersReady');

    expect(found?.status).toBe(unready === undefined ? 'True' : 'False');
    expect(found?.message).toBe(unready && `containers with unready status: ${unready}`);
  });
});
