import {describe, expect, test} from 'vitest';
import type {Container, Pod} from '../../../../../src/api/types/v1-pod.js';
import type {ResourceRequirements} from '../../../../../src/api/types/v1-meta.js';
import {allocationOf} from '../../../../../src/kubelet/contract/resources/pod-allocation.js';
import {NO_PROBE_RESULTS} from '../../../../../src/kubelet/contract/probe-results.js';
import {computePodActions} from '../../../../../src/kubelet/managers/kuberuntime/compute/compute-pod-actions.js';
import {isResizeInProgress} from '../../../../../src/kubelet/managers/kuberuntime/compute/compute-resize-actions.js';
import {formatPodActions} from '../format-pod-actions.js';
import {aContainer, aPod, aSandboxStatus, aStatus, anInstance} from '../../../pod-builders.js';

const RUNNING = 'CONTAINER_RUNNING';

const resources = (cpu: string, memory: string): ResourceRequirements => ({
  requests: {cpu: '10m', memory: '1Mi'},
  limits: {cpu, memory},
});

const named = (name: string, cpu: string, memory: string, fields: Partial<Container> = {}): Container =>
  aContainer({name, resources: resources(cpu, memory), ...fields});

/** What is resized of a pod that was given something else, as `memory: a b; cpu: c; pod`. */
function resize(before: Pod, pod: Pod, status = allRunning(pod)): string {
  const {resize: actions} = computePodActions(pod, status, NO_PROBE_RESULTS, {
    actuated: allocationOf(before),
  });
  if (actions === undefined) return '';
  const names = (list: typeof actions.cpu): string => list.map(({container}) => container.name).join(' ');
  return `memory: ${names(actions.memory)}; cpu: ${names(actions.cpu)}${actions.wholePod ? '; pod' : ''}`;
}

function allRunning({spec}: Pod): ReturnType<typeof aStatus> {
  return aStatus(
    [...spec.containers, ...(spec.initContainers ?? [])].map(({name}) => anInstance(name, RUNNING)),
  );
}

describe('running containers', () => {
  test.each<[string, Container, Container, string]>([
    ['nothing new', named('a', '1', '1Gi'), named('a', '1000m', '1024Mi'), ''],
    ['CPU', named('a', '1', '1Gi'), named('a', '2', '1Gi'), 'memory: ; cpu: a'],
    ['memory', named('a', '1', '1Gi'), named('a', '1', '2Gi'), 'memory: a; cpu: '],
    ['both', named('a', '1', '1Gi'), named('a', '2', '2Gi'), 'memory: a; cpu: a'],
    [
      'a request of CPU alone',
      named('a', '1', '1Gi'),
      aContainer({
        name: 'a',
        resources: {requests: {cpu: '20m', memory: '1Mi'}, limits: {cpu: '1', memory: '1Gi'}},
      }),
      'memory: ; cpu: a',
    ],
    [
      'a request of memory alone',
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

  test('that get less go before those that get more', () => {
    const before = aPod({containers: ['a', 'b', 'c'].map((name) => named(name, '2', '2Gi'))});
    const now = aPod({containers: [named('a', '3', '1Gi'), named('b', '1', '3Gi'), named('c', '1', '1Gi')]});
    expect(resize(before, now)).toBe('memory: c a b; cpu: c b a');
  });

  test('that are sidecars are updated too, other init containers are not', () => {
    const pod = (cpu: string): Pod =>
      aPod({
        initContainers: [named('init', cpu, '1Gi'), named('side', cpu, '1Gi', {restartPolicy: 'Always'})],
        containers: [named('a', '1', '1Gi')],
      });
    const status = aStatus([
      anInstance('a', RUNNING),
      anInstance('side', RUNNING),
      anInstance('init', 'CONTAINER_EXITED'),
    ]);
    expect(resize(pod('1'), pod('2'), status)).toBe('memory: ; cpu: side');
  });

  test('of which nothing is known are left', () => {
    const pod = aPod({containers: [named('a', '1', '1Gi')]});
    expect(computePodActions(pod, allRunning(pod)).resize).toBeUndefined();
    expect(resize(aPod({containers: [named('b', '2', '1Gi')]}), pod)).toBe('');
  });
});

describe('a container that says so', () => {
  const policy = (resourceName: 'cpu' | 'memory'): Partial<Container> => ({
    resizePolicy: [{resourceName, restartPolicy: 'RestartContainer'}],
  });

  test('is started anew, and makes the pod follow', () => {
    const before = aPod({containers: [named('a', '1', '1Gi')]});
    const pod = aPod({containers: [named('a', '1', '2Gi', policy('memory'))]});
    const actions = computePodActions(pod, allRunning(pod), NO_PROBE_RESULTS, {
      actuated: allocationOf(before),
    });
    expect(formatPodActions(actions)).toBe('kill a (Resize), start a');
    expect(actions.containersToKill[0]?.message).toBe('Container a resize requires restart');
    expect(resize(before, pod)).toBe('memory: ; cpu: ; pod');
  });

  test('of something else is updated', () => {
    const before = aPod({containers: [named('a', '1', '1Gi')]});
    expect(resize(before, aPod({containers: [named('a', '1', '2Gi', policy('cpu'))]}))).toBe(
      'memory: a; cpu: ',
    );
  });

  test('and is a sidecar is started anew beside the others', () => {
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

describe('a pod follows', () => {
  test('a container that is started with more than its last instance had', () => {
    const before = aPod({containers: [named('a', '1', '1Gi')]});
    const pod = aPod({containers: [named('a', '2', '1Gi')]});
    const died = aStatus([anInstance('a', 'CONTAINER_EXITED', {exitCode: 1})]);
    expect(resize(before, pod, died)).toBe('memory: ; cpu: ; pod');
    expect(resize(before, pod, aStatus([], [aSandboxStatus({state: 'SANDBOX_NOTREADY'})]))).toBe(
      'memory: ; cpu: ; pod',
    );
  });

  test('what it asks for as a whole, and containers without limits of their own with it', () => {
    const pod = (cpu: string): Pod =>
      aPod({resources: {limits: {cpu}, requests: {cpu}}, containers: [aContainer({name: 'a'})]});
    expect(resize(pod('1'), pod('2'))).toBe('memory: ; cpu: a; pod');
  });

  test('nothing when it ends', () => {
    const before = aPod({restartPolicy: 'Never', containers: [named('a', '1', '1Gi')]});
    const pod = aPod({restartPolicy: 'Never', containers: [named('a', '2', '1Gi')]});
    expect(resize(before, pod, aStatus([anInstance('a', 'CONTAINER_EXITED')]))).toBe('');
  });
});

test('a resize is in progress while something that runs lacks what it was granted', () => {
  const before = allocationOf(aPod({containers: [named('a', '1', '1Gi')]}));
  const pod = aPod({containers: [named('a', '2', '1Gi')]});
  expect(isResizeInProgress(pod, allRunning(pod), before)).toBe(true);
  expect(isResizeInProgress(pod, aStatus([]), before)).toBe(false);
  expect(isResizeInProgress(pod, allRunning(pod), allocationOf(pod))).toBe(false);
  expect(isResizeInProgress(pod, allRunning(pod), undefined)).toBe(false);
});
