import {expect, test} from 'vitest';
import type {ContainerStatus} from '../../../../../src/api/types/v1-status.js';
import type {RuntimeContainerStatus} from '../../../../../src/kubelet/contract/runtime-pod-status.js';
import {aContainer, aContainerStatus, aPod} from '../../../../fakes/a-pod.js';
import {anInstance, aRuntimePod} from '../../../../fakes/a-runtime-pod.js';
import {computeStatus} from './compute-status.js';

const POD = aPod({containers: [aContainer({name: 'a'}), aContainer({name: 'b'})]});

/** Returns the next status of the container `name`, after both containers had the given statuses. */
function nextStatus(
  name: string,
  instances: readonly RuntimeContainerStatus[],
  containerStatuses: readonly ContainerStatus[],
): ContainerStatus | undefined {
  const {containerStatuses: now = []} = computeStatus({
    pod: POD,
    runtime: aRuntimePod(instances),
    previous: {containerStatuses},
  });
  return now.find((status) => status.name === name);
}

test('each container keeps the restart count of its own previous status', () => {
  const before = [
    aContainerStatus({name: 'a', restartCount: 3}),
    aContainerStatus({name: 'b', restartCount: 5}),
  ];

  expect(nextStatus('a', [], before)?.restartCount).toBe(3);
  expect(nextStatus('b', [], before)?.restartCount).toBe(5);
});

const ENDED = {state: {terminated: {exitCode: 0}}};

test.each<[string, RuntimeContainerStatus, Partial<ContainerStatus>, number]>([
  ['equals the restart count of the runtime', anInstance('a', 'CONTAINER_RUNNING', {restartCount: 2}), {}, 2],
  ['never decreases', anInstance('a', 'CONTAINER_RUNNING', {restartCount: 2}), {restartCount: 4}, 4],
  [
    'increases after an exit',
    anInstance('a', 'CONTAINER_RUNNING', {restartCount: 3}),
    {...ENDED, restartCount: 3},
    4,
  ],
  [
    'equals the higher restart count of the runtime',
    anInstance('a', 'CONTAINER_RUNNING', {restartCount: 5}),
    {...ENDED, restartCount: 3},
    5,
  ],
  [
    'does not increase while the container is exited',
    anInstance('a', 'CONTAINER_EXITED', {restartCount: 3}),
    {...ENDED, restartCount: 3},
    3,
  ],
])('the restart count %s', (_title, instance, previous, expected) => {
  expect(nextStatus('a', [instance], [aContainerStatus({name: 'a', ...previous})])?.restartCount).toBe(
    expected,
  );
});

test.each([
  ['a previous exit of the same instance is not the last state', true, 7],
  ['a previous exit of another instance is the last state', false, 9],
])('%s', (_title, same, exitCode) => {
  const instance = anInstance('a', 'CONTAINER_EXITED', {exitCode: 9});
  const previous = aContainerStatus({
    name: 'a',
    containerID: same ? `containerd://${instance.id}` : 'containerd://other',
    state: {terminated: {exitCode: 9}},
    lastState: {terminated: {exitCode: 7}},
  });

  expect(nextStatus('a', [instance], [previous])?.lastState).toEqual({terminated: {exitCode}});
});

test.each([
  ['ready', 'True', true],
  ['not ready', 'False', false],
] as const)(
  'after a restart of the kubelet, a container of a pod that was %s is so too before it is probed',
  (_title, status, ready) => {
    const instance = anInstance('main', 'CONTAINER_RUNNING');
    const before = aContainerStatus({
      name: 'main',
      containerID: `containerd://${instance.id}`,
      state: {running: {startedAt: '2026-05-01T12:00:00Z'}},
      started: true,
      ready: true,
    });
    const {containerStatuses} = computeStatus({
      runtime: aRuntimePod([instance]),
      restored: {conditions: [{type: 'Ready', status}], containerStatuses: [before]},
      readinessOf: ({before: known}) => known ?? {started: false, ready: false},
    });
    expect(containerStatuses).toMatchObject([{started: true, ready}]);
  },
);

test('the status does not go back to an instance whose successor has ended and was removed', () => {
  const instance = anInstance('a', 'CONTAINER_EXITED', {exitCode: 9, restartCount: 0});
  const previous = aContainerStatus({
    name: 'a',
    containerID: 'containerd://successor',
    state: {terminated: {exitCode: 0, containerID: 'containerd://successor'}},
    lastState: {terminated: {exitCode: 9, containerID: `containerd://${instance.id}`}},
    restartCount: 1,
  });

  const {state, lastState, restartCount} = previous;
  expect(nextStatus('a', [instance], [previous])).toMatchObject({state, lastState, restartCount});
});
