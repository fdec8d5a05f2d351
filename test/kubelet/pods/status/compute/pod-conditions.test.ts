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
import {aContainer, aContainerStatus, aPod} from '../../../../fakes/a-pod.js';
import {aRuntimePod} from '../../../../fakes/a-runtime-pod.js';

const RUNS: ContainerState = {running: {}};
const ENDED: ContainerState = {terminated: {exitCode: 1}};
const WAITS: ContainerState = {waiting: {}};

function aStatus(
  name: string,
  state: ContainerState,
  fields: Partial<ContainerStatus> = {},
): ContainerStatus {
  return aContainerStatus({name, state, started: false, ...fields});
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

describe('Initialized', () => {
  const initDone = aStatus('init', ENDED, {ready: true});

  test.each<[string, Partial<ConditionInput>, string | undefined]>([
    ['is False before the init containers have run', {}, '[init side]'],
    [
      'is False while an init container is running',
      {initStatuses: [aStatus('init', RUNS, {started: true}), aStatus('side', WAITS)]},
      '[init side]',
    ],
    [
      'is False before the sidecars have started',
      {initStatuses: [initDone, aStatus('side', RUNS, {ready: true})]},
      '[side]',
    ],
    [
      'is True when the sidecars have started, ready or not',
      {initStatuses: [initDone, aStatus('side', RUNS, {started: true})]},
      undefined,
    ],
    [
      'is False while the regular containers are waiting',
      {initStatuses: [initDone], statuses: [aStatus('a', WAITS), aStatus('b', WAITS)]},
      '[side]',
    ],
    [
      'is True once one regular container is running',
      {statuses: [aStatus('a', RUNS), aStatus('b', WAITS)]},
      undefined,
    ],
    [
      'is True once one regular container has run',
      {statuses: [aStatus('a', WAITS), aStatus('b', ENDED)]},
      undefined,
    ],
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

test('each condition keeps its transition time until its status changes', () => {
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
])('Initialized of a %s pod depends on the phase', (phase, expected) => {
  expect(find(conditions({phase}), 'Initialized')).toMatchObject(expected);
});

test.each<['True' | 'False', RuntimePodStatus]>([
  ['True', aRuntimePod([])],
  ['False', {...aRuntimePod([]), sandboxes: []}],
])('PodReadyToStartContainers follows the sandbox: %s', (status, runtime) => {
  expect(find(conditions({runtime}), 'PodReadyToStartContainers')).toMatchObject({status});
});

describe('ContainersReady', () => {
  const ready = (name: string): ContainerStatus => aStatus(name, RUNS, {ready: true});
  const both = [ready('a'), ready('b')];

  test.each<[string, Partial<ConditionInput>, string | undefined]>([
    [
      'is True if containers and sidecars are ready, whatever the init containers',
      {initStatuses: [ready('side')], statuses: both},
      undefined,
    ],
    ['is False if a sidecar is not ready', {initStatuses: [aStatus('side', RUNS)], statuses: both}, '[side]'],
    ['is False if a container is missing', {initStatuses: [ready('side')], statuses: [ready('b')]}, '[a]'],
  ])('%s', (_title, input, unready) => {
    const found = find(conditions(input), 'ContainersReady');

    expect(found?.status).toBe(unready === undefined ? 'True' : 'False');
    expect(found?.message).toBe(unready && `containers with unready status: ${unready}`);
  });
});
