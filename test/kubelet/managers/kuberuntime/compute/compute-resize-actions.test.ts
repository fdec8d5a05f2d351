import {describe, expect, test} from 'vitest';
import type {Container, Pod} from '../../../../../src/api/types/v1-pod.js';
import type {ResourceRequirements} from '../../../../../src/api/types/v1-meta.js';
import type {RuntimePodStatus} from '../../../../../src/kubelet/contract/runtime-pod-status.js';
import {allocationOf} from '../../../../../src/kubelet/resources/pod-allocation.js';
import {NO_PROBE_RESULTS} from '../../../../../src/kubelet/contract/probe-results.js';
import {computePodActions} from '../../../../../src/kubelet/managers/kuberuntime/compute/compute-pod-actions.js';
import {isResizeInProgress} from '../../../../../src/kubelet/managers/kuberuntime/compute/compute-resize-actions.js';
import {formatPodActions} from '../format-pod-actions.js';
import {aContainer, aPod} from '../../../../fakes/a-pod.js';
import {anInstance, aRuntimePod, aSandboxStatus} from '../../../../fakes/a-runtime-pod.js';

const RUNNING = 'CONTAINER_RUNNING';

const resources = (cpu: string, memory: string): ResourceRequirements => ({
  requests: {cpu: '10m', memory: '1Mi'},
  limits: {cpu, memory},
});

const named = (name: string, cpu: string, memory: string, fields: Partial<Container> = {}): Container =>
  aContainer({name, resources: resources(cpu, memory), ...fields});

/** Describes the resize actions of a pod that had other resources, as `memory: a b; cpu: c; pod`. */
function resize(before: Pod, pod: Pod, status = allRunning(pod)): string {
  const {resize: actions} = computePodActions(pod, status, NO_PROBE_RESULTS, {
    actuated: allocationOf(before),
  });
  if (actions === undefined) return '';
  const names = (list: typeof actions.cpu): string => list.map(({container}) => container.name).join(' ');
  return `memory: ${names(actions.memory)}; cpu: ${names(actions.cpu)}${actions.wholePod ? '; pod' : ''}`;
}

function allRunning({spec}: Pod): RuntimePodStatus {
  return aRuntimePod(
    [...spec.containers, ...(spec.initContainers ?? [])].map(({name}) => anInstance(name, RUNNING)),
  );
}

describe('running containers', () => {
  // Proves: PodSpec.containers
  test.each<[string, Container, Container, string]>([
    ['nothing without a change', named('a', '1', '1Gi'), named('a', '1000m', '1024Mi'), ''],
    ['CPU', named('a', '1', '1Gi'), named('a', '2', '1Gi'), 'memory: ; cpu: a'],
    ['memory', named('a', '1', '1Gi'), named('a', '1', '2Gi'), 'memory: a; cpu: '],
    ['both', named('a', '1', '1Gi'), named('a', '2', '2Gi'), 'memory: a; cpu: a'],
    [
      'CPU when only the request changes',
      named('a', '1', '1Gi'),
      aContainer({
        name: 'a',
        resources: {requests: {cpu: '20m', memory: '1Mi'}, limits: {cpu: '1', memory: '1Gi'}},
      }),
      'memory: ; cpu: a',
    ],
    [
      'memory when only the request changes',
      named('a', '1', '1Gi'),
      aContainer({
        name: 'a',
        resources: {requests: {cpu: '10m', memory: '2Mi'}, limits: {cpu: '1', memory: '1Gi'}},
      }),
      'memory: a; cpu: ',
    ],
  ])('are updated in %s', (_, before, now, expected) => {
    expect(resize(aPod({containers: [before]}), aPod({containers: [now]}))).toBe(expected);
  });

  test('with decreases are updated before those with increases', () => {
    const before = aPod({containers: ['a', 'b', 'c'].map((name) => named(name, '2', '2Gi'))});
    const now = aPod({containers: [named('a', '3', '1Gi'), named('b', '1', '3Gi'), named('c', '1', '1Gi')]});
    expect(resize(before, now)).toBe('memory: c a b; cpu: c b a');
  });

  test('are updated if they are regular containers or sidecars, but not if they are init containers', () => {
    const pod = (cpu: string): Pod =>
      aPod({
        initContainers: [named('init', cpu, '1Gi'), named('side', cpu, '1Gi', {restartPolicy: 'Always'})],
        containers: [named('a', '1', '1Gi')],
      });
    const status = aRuntimePod([
      anInstance('a', RUNNING),
      anInstance('side', RUNNING),
      anInstance('init', 'CONTAINER_EXITED'),
    ]);
    expect(resize(pod('1'), pod('2'), status)).toBe('memory: ; cpu: side');
  });

  test('without actuated resources are not updated', () => {
    const pod = aPod({containers: [named('a', '1', '1Gi')]});
    expect(computePodActions(pod, allRunning(pod)).resize).toBeUndefined();
    expect(resize(aPod({containers: [named('b', '2', '1Gi')]}), pod)).toBe('');
  });
});

describe('a container with resizePolicy RestartContainer', () => {
  const policy = (resourceName: 'cpu' | 'memory'): Partial<Container> => ({
    resizePolicy: [{resourceName, restartPolicy: 'RestartContainer'}],
  });

  // Proves: Container.resizePolicy, ContainerResizePolicy.resourceName
  test('is restarted, and the pod cgroup is updated', () => {
    const before = aPod({containers: [named('a', '1', '1Gi')]});
    const pod = aPod({containers: [named('a', '1', '2Gi', policy('memory'))]});
    const actions = computePodActions(pod, allRunning(pod), NO_PROBE_RESULTS, {
      actuated: allocationOf(before),
    });
    expect(formatPodActions(actions)).toBe('kill a (Resize), start a');
    expect(actions.containersToKill[0]?.message).toBe('Container a resize requires restart');
    expect(resize(before, pod)).toBe('memory: ; cpu: ; pod');
  });

  test('for another resource is updated in place', () => {
    const before = aPod({containers: [named('a', '1', '1Gi')]});
    expect(resize(before, aPod({containers: [named('a', '1', '2Gi', policy('cpu'))]}))).toBe(
      'memory: a; cpu: ',
    );
  });

  test('that is a sidecar is restarted beside the regular containers', () => {
    const pod = (memory: string): Pod =>
      aPod({
        initContainers: [named('side', '1', memory, {restartPolicy: 'Always', ...policy('memory')})],
        containers: [named('a', '1', '1Gi')],
      });
    const facts = {actuated: allocationOf(pod('1Gi'))};
    expect(
      formatPodActions(computePodActions(pod('2Gi'), allRunning(pod('2Gi')), NO_PROBE_RESULTS, facts)),
    ).toBe('kill side (Resize), init side');
  });
});

describe('the pod cgroup is updated', () => {
  test('when a container is restarted with more resources than its last instance had', () => {
    const before = aPod({containers: [named('a', '1', '1Gi')]});
    const pod = aPod({containers: [named('a', '2', '1Gi')]});
    const died = aRuntimePod([anInstance('a', 'CONTAINER_EXITED', {exitCode: 1})]);
    expect(resize(before, pod, died)).toBe('memory: ; cpu: ; pod');
    expect(
      resize(before, pod, aRuntimePod([], {sandboxes: [aSandboxStatus({state: 'SANDBOX_NOTREADY'})]})),
    ).toBe('memory: ; cpu: ; pod');
  });

  test('when pod-level resources change, along with containers without limits', () => {
    const pod = (cpu: string): Pod =>
      aPod({resources: {limits: {cpu}, requests: {cpu}}, containers: [aContainer({name: 'a'})]});
    expect(resize(pod('1'), pod('2'))).toBe('memory: ; cpu: a; pod');
  });

  test('unless the pod ends', () => {
    const before = aPod({restartPolicy: 'Never', containers: [named('a', '1', '1Gi')]});
    const pod = aPod({restartPolicy: 'Never', containers: [named('a', '2', '1Gi')]});
    expect(resize(before, pod, aRuntimePod([anInstance('a', 'CONTAINER_EXITED')]))).toBe('');
  });
});

test('a resize is in progress while a running container does not have its allocated resources', () => {
  const before = allocationOf(aPod({containers: [named('a', '1', '1Gi')]}));
  const pod = aPod({containers: [named('a', '2', '1Gi')]});
  expect(isResizeInProgress(pod, allRunning(pod), before)).toBe(true);
  expect(isResizeInProgress(pod, aRuntimePod([]), before)).toBe(false);
  expect(isResizeInProgress(pod, allRunning(pod), allocationOf(pod))).toBe(false);
  expect(isResizeInProgress(pod, allRunning(pod), undefined)).toBe(false);
});
