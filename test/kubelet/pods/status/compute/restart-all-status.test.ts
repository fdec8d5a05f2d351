import {expect, test} from 'vitest';
import type {ContainerStatus, PodStatus} from '../../../../../src/api/types/v1-status.js';
import {containerId} from '../../../../../src/cri/index.js';
import type {PodStatusInput} from '../../../../../src/kubelet/pods/status/compute/pod-status.js';
import {aContainer, aPod} from '../../../../fakes/a-pod.js';
import {anInstance, aRuntimePod} from '../../../../fakes/a-runtime-pod.js';
import {computeStatus} from './compute-status.js';

const all = {action: 'RestartAllContainers', exitCodes: {operator: 'In', values: [42]}} as const;
const pod = aPod({
  initContainers: [aContainer({name: 'init'})],
  containers: [
    aContainer(),
    aContainer({name: 'trigger', restartPolicy: 'Never', restartPolicyRules: [all]}),
  ],
});

const status = (input: Partial<PodStatusInput>): PodStatus => computeStatus({pod, ...input});

function mainStatus({containerStatuses = []}: PodStatus): ContainerStatus | undefined {
  return containerStatuses.find(({name}) => name === 'main');
}

const exit42 = anInstance('trigger', 'CONTAINER_EXITED', {exitCode: 42});
const before = status({
  runtime: aRuntimePod([
    anInstance('main', 'CONTAINER_RUNNING'),
    exit42,
    anInstance('init', 'CONTAINER_EXITED'),
  ]),
});
const restarting = {
  reason: 'RestartingAllContainers',
  message: 'The container is removed because RestartAllContainers in place',
};
const REMOVED = {
  state: {waiting: restarting},
  lastState: {terminated: {...restarting, exitCode: 137}},
  restartCount: 1,
  ready: false,
  started: false,
};

// Proves: ContainerRestartRule.exitCodes, ContainerRestartRuleOnExitCodes.values
test('removed containers wait with the reason RestartingAllContainers and count as restarted', () => {
  const removed = status({runtime: aRuntimePod([]), previous: before});
  expect(removed.phase).toBe('Running');
  expect(removed.containerStatuses).toMatchObject([
    {name: 'main', ...REMOVED},
    {name: 'trigger', ...REMOVED},
  ]);
  expect(removed.initContainerStatuses).toMatchObject([{name: 'init', ...REMOVED}]);
});

test('containers that still exist keep their state', () => {
  const {containerStatuses} = status({runtime: aRuntimePod([exit42]), previous: before});
  expect(containerStatuses).toMatchObject([
    {name: 'main', ...REMOVED},
    {name: 'trigger', state: {terminated: {exitCode: 42}}, restartCount: 0},
  ]);
});

test('new instances keep the last state and restart count of the removed ones', () => {
  const removed = status({runtime: aRuntimePod([]), previous: before});
  const waiting = status({runtime: aRuntimePod([]), previous: removed});
  expect(mainStatus(waiting)).toMatchObject({...REMOVED, state: {waiting: {reason: 'PodInitializing'}}});
  const again = aRuntimePod([anInstance('main', 'CONTAINER_RUNNING', {id: containerId('new')})]);
  expect(mainStatus(status({runtime: again, previous: waiting}))).toMatchObject({
    state: {running: {}},
    lastState: {terminated: {...restarting, exitCode: 137}},
    restartCount: 1,
  });
});

test('a container in the state CONTAINER_UNKNOWN is terminated with RestartingAllContainers', () => {
  const {containerStatuses} = status({
    runtime: aRuntimePod([anInstance('main', 'CONTAINER_UNKNOWN'), exit42]),
    previous: before,
  });
  expect(containerStatuses?.[0]).toMatchObject({
    state: {terminated: {reason: 'RestartingAllContainers', exitCode: 137}},
    restartCount: 1,
  });
});
