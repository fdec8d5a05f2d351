import {expect, test} from 'vitest';
import type {ContainerStatus} from '../../../../../src/api/types/v1-status.js';
import type {RuntimeContainerStatus} from '../../../../../src/kubelet/contract/runtime-pod-status.js';
import {computePodStatus} from '../../../../../src/kubelet/pods/status/compute/pod-status.js';
import {aContainer, aPod} from '../../../pod-builders.js';
import {anInstance, aRuntimePod} from '../../runtime-pod-builders.js';

const POD = aPod({containers: [aContainer({name: 'a'}), aContainer({name: 'b'})]});

function anOld(name: string, fields: Partial<ContainerStatus>): ContainerStatus {
  return {name, ready: false, restartCount: 0, image: 'i', imageID: '', ...fields};
}

/** The status of one of the containers, after that status of both. */
function later(
  name: string,
  instances: readonly RuntimeContainerStatus[],
  containerStatuses: readonly ContainerStatus[],
): ContainerStatus | undefined {
  const {containerStatuses: now = []} = computePodStatus({
    pod: POD,
    runtime: aRuntimePod(instances),
    reasons: new Map(),
    previous: {containerStatuses},
    node: {nodeIps: [], runtime: {handlers: new Map()}},
    runtimeName: 'containerd',
    now: 0,
  });
  return now.find((status) => status.name === name);
}

test('of each container its own status before is known', () => {
  const before = [anOld('a', {restartCount: 3}), anOld('b', {restartCount: 5})];

  expect(later('a', [], before)?.restartCount).toBe(3);
  expect(later('b', [], before)?.restartCount).toBe(5);
});

const ENDED = {state: {terminated: {exitCode: 0}}};

test.each<[string, RuntimeContainerStatus, Partial<ContainerStatus>, number]>([
  ['as the runtime counts', anInstance('a', 'CONTAINER_RUNNING', {restartCount: 2}), {}, 2],
  ['never less than before', anInstance('a', 'CONTAINER_RUNNING', {restartCount: 2}), {restartCount: 4}, 4],
  [
    'once more after an end',
    anInstance('a', 'CONTAINER_RUNNING', {restartCount: 3}),
    {...ENDED, restartCount: 3},
    4,
  ],
  [
    'as the runtime counts, if more',
    anInstance('a', 'CONTAINER_RUNNING', {restartCount: 5}),
    {...ENDED, restartCount: 3},
    5,
  ],
  [
    'no more while it is ended',
    anInstance('a', 'CONTAINER_EXITED', {restartCount: 3}),
    {...ENDED, restartCount: 3},
    3,
  ],
])('restarts are counted %s', (_title, instance, old, expected) => {
  expect(later('a', [instance], [anOld('a', old)])?.restartCount).toBe(expected);
});

test.each([
  ['how the same instance ended is not how the one before did', true, 7],
  ['how another instance ended is how the one before did', false, 9],
])('%s', (_title, same, exitCode) => {
  const instance = anInstance('a', 'CONTAINER_EXITED', {exitCode: 9});
  const old = anOld('a', {
    containerID: same ? `containerd://${instance.id}` : 'containerd://other',
    state: {terminated: {exitCode: 9}},
    lastState: {terminated: {exitCode: 7}},
  });

  expect(later('a', [instance], [old])?.lastState).toEqual({terminated: {exitCode}});
});
