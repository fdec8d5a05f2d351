import {describe, expect, test} from 'vitest';
import type {
  Container,
  ContainerRestartRule,
  Pod,
  RestartPolicy,
} from '../../../../../src/api/types/v1-pod.js';
import {containerId} from '../../../../../src/cri/index.js';
import {computePodActions} from '../../../../../src/kubelet/managers/kuberuntime/compute/compute-pod-actions.js';
import type {RuntimeContainerStatus} from '../../../../../src/kubelet/contract/runtime-pod-status.js';
import {NO_PROBE_RESULTS} from '../../../../../src/kubelet/contract/probe-results.js';
import {formatPodActions} from '../format-pod-actions.js';
import {aContainer, aPod} from '../../../../fakes/a-pod.js';
import {anInstance, aRuntimePod, aSandboxStatus} from '../../../../fakes/a-runtime-pod.js';

const RUNNING = 'CONTAINER_RUNNING';
const EXITED = 'CONTAINER_EXITED';

const exited = (name: string, exitCode: number, restartCount = 0): RuntimeContainerStatus =>
  anInstance(name, EXITED, {exitCode, restartCount});

describe('the restart policy of a container', () => {
  // Proves: Container.restartPolicy
  test.each<[RestartPolicy, RestartPolicy, number, string]>([
    ['Always', 'Never', 0, 'start main'],
    ['OnFailure', 'Never', 1, 'start main'],
    ['OnFailure', 'Always', 0, 'kill pod'],
    ['Never', 'Always', 1, 'kill pod'],
  ])('%s overrides the pod’s %s, exit code %i: %s', (restartPolicy, pods, exitCode, expected) => {
    const pod = aPod({restartPolicy: pods, containers: [aContainer({restartPolicy})]});

    expect(formatPodActions(computePodActions(pod, aRuntimePod([exited('main', exitCode)])))).toBe(expected);
  });

  test.each<[RestartPolicy, RestartPolicy, string]>([
    ['OnFailure', 'Never', 'kill main (LivenessProbe), start main'],
    ['Never', 'Always', 'kill main (LivenessProbe)'],
  ])('%s overrides the pod’s %s when a probe fails: %s', (restartPolicy, pods, expected) => {
    const other = aContainer({name: 'other'});
    const pod = aPod({restartPolicy: pods, containers: [aContainer({restartPolicy}), other]});
    const status = aRuntimePod([anInstance('main', RUNNING), anInstance('other', RUNNING)]);
    const liveness = new Map([[containerId('main-0'), 'Failure' as const]]);

    expect(formatPodActions(computePodActions(pod, status, {liveness, startup: new Map()}))).toBe(expected);
  });

  test.each<[RestartPolicy, RestartPolicy, RuntimeContainerStatus, string]>([
    ['OnFailure', 'Never', exited('i1', 1), 'init i1'],
    ['Never', 'Always', exited('i1', 1), 'kill pod'],
    ['Never', 'Always', anInstance('i1', 'CONTAINER_UNKNOWN'), 'kill pod'],
    ['OnFailure', 'Never', anInstance('i1', 'CONTAINER_UNKNOWN'), 'kill i1 (Unknown), init i1'],
  ])('%s of an init container overrides the pod’s %s', (restartPolicy, pods, instance, expected) => {
    const pod = aPod({restartPolicy: pods, initContainers: [aContainer({name: 'i1', restartPolicy})]});

    expect(formatPodActions(computePodActions(pod, aRuntimePod([instance])))).toBe(expected);
  });
});

test('initialization is complete once one of several containers runs', () => {
  const containers = [aContainer(), aContainer({name: 'other'})];
  const pod = aPod({containers, initContainers: [aContainer({name: 'i1'})]});

  expect(
    formatPodActions(computePodActions(pod, aRuntimePod([anInstance('main', RUNNING), exited('i1', 1)]))),
  ).toBe('start other');
});

const rule = (
  action: 'Restart' | 'RestartAllContainers',
  ...values: readonly number[]
): ContainerRestartRule => ({
  action,
  exitCodes: {operator: 'In', values},
});

/** Creates a container that is restarted only by these rules. */
function aRuledContainer(name: string, ...restartPolicyRules: readonly ContainerRestartRule[]): Container {
  return aContainer({name, restartPolicy: 'Never', restartPolicyRules});
}

test.each([
  [3, 'init i1'],
  [4, 'kill pod'],
])('an init container is restarted by a rule, exit code %i: %s', (exitCode, expected) => {
  const pod = aPod({restartPolicy: 'Never', initContainers: [aRuledContainer('i1', rule('Restart', 3))]});

  expect(formatPodActions(computePodActions(pod, aRuntimePod([exited('i1', exitCode)])))).toBe(expected);
});

test.each([
  ['an exit code', {restartPolicy: 'Never', restartPolicyRules: [{action: 'Restart'}]}],
  ['codes', {restartPolicy: 'Never', restartPolicyRules: [{action: 'Restart', exitCodes: {operator: 'In'}}]}],
] as const)('a rule without %s matches nothing', (_title, fields) => {
  const pod = aPod({containers: [aContainer(fields)]});

  expect(formatPodActions(computePodActions(pod, aRuntimePod([exited('main', 1)])))).toBe('kill pod');
});

describe('a rule that restarts all containers', () => {
  const all = rule('RestartAllContainers', 42);
  const sidecar = aContainer({name: 'side', restartPolicy: 'Always'});
  const pod: Pod = aPod({
    restartPolicy: 'Never',
    initContainers: [aContainer({name: 'init'}), sidecar],
    containers: [
      aRuledContainer('a', all),
      aContainer({name: 'b'}),
      aRuledContainer('c', rule('Restart', 42), all),
    ],
  });
  const others = [anInstance('b', RUNNING), anInstance('side', RUNNING), exited('init', 0)];

  test.each<[string, readonly RuntimeContainerStatus[], string]>([
    [
      'kills and removes all containers and init containers, the triggering one last',
      [exited('a', 42), anInstance('c', RUNNING), ...others],
      'kill and remove b-0, kill and remove c-0, remove init-0, kill and remove side-0, remove a-0',
    ],
    [
      'removes earlier instances too',
      [exited('a', 42, 1), exited('a', 1), exited('b', 0)],
      'remove a-0, remove b-0, remove a-1',
    ],
    [
      'kills created containers and those in an unknown state',
      [exited('a', 42), anInstance('b', 'CONTAINER_CREATED'), anInstance('c', 'CONTAINER_UNKNOWN')],
      'kill and remove b-0, kill and remove c-0, remove a-0',
    ],
    ['continues until the triggering container is removed', [exited('a', 42)], 'remove a-0'],
    ['does not match another exit code', [exited('a', 1), anInstance('c', RUNNING), ...others], ''],
    [
      'does not match an instance before the last',
      [anInstance('a', RUNNING, {restartCount: 1}), exited('a', 42), anInstance('c', RUNNING), ...others],
      '',
    ],
    ['applies after earlier rules', [exited('c', 42), anInstance('a', RUNNING), ...others], 'start c'],
  ])('%s', (_title, containers, expected) => {
    expect(formatPodActions(computePodActions(pod, aRuntimePod(containers)))).toBe(expected);
  });

  test.each(['init', 'side'])('may belong to the init container %s', (name) => {
    const initContainers = pod.spec.initContainers?.map((container) =>
      container.name === name
        ? {...aRuledContainer(name, all), restartPolicy: container.restartPolicy ?? 'Never'}
        : container,
    );
    const status = aRuntimePod([exited(name, 42)]);

    expect(
      formatPodActions(computePodActions(aPod({...pod.spec, initContainers: initContainers ?? []}), status)),
    ).toBe(`remove ${name}-0`);
  });

  test('continues while the pod status has the condition AllContainersRestarting', () => {
    const status = aRuntimePod([anInstance('b', RUNNING), exited('init', 0)]);

    expect(
      formatPodActions(computePodActions(pod, status, NO_PROBE_RESULTS, {restartAllContainers: true})),
    ).toBe('kill and remove b-0, remove init-0');
  });

  // Proves: Container.restartPolicyRules
  test('waits for a new sandbox if one is needed', () => {
    const status = aRuntimePod([exited('a', 42)], {sandboxes: [aSandboxStatus({state: 'SANDBOX_NOTREADY'})]});

    expect(formatPodActions(computePodActions(pod, status))).toBe('kill pod, create sandbox 1, remove a-0');
  });
});
