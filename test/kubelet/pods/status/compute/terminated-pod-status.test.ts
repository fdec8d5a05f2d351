import {describe, expect, test} from 'vitest';
import type {ContainerStatus, PodStatus} from '../../../../../src/api/types/v1-status.js';
import {terminatedPodStatus} from '../../../../../src/kubelet/pods/status/compute/terminated-pod-status.js';
import {aContainer, aPod} from '../../../../fakes/a-pod.js';

const status = (name: string, fields: Partial<ContainerStatus> = {}): ContainerStatus => ({
  ...{name, ready: false, restartCount: 0, image: 'busybox', imageID: ''},
  state: {waiting: {reason: 'PodInitializing'}},
  ...fields,
});
const exited = (exitCode: number): Partial<ContainerStatus> => ({state: {terminated: {exitCode}}});
const running: Partial<ContainerStatus> = {
  state: {running: {startedAt: '2026-05-01T12:00:00Z'}},
  started: true,
};
const always = 'Always' as const;

/** Lists the containers that got the reason ContainerStatusUnknown. */
const lost = ({initContainerStatuses = [], containerStatuses = []}: PodStatus): readonly string[] =>
  [...initContainerStatuses, ...containerStatuses]
    .filter(({state}) => state?.terminated?.reason === 'ContainerStatusUnknown')
    .map(({name}) => name);

describe('the phase', () => {
  test.each([
    ['Pending', 'Failed'],
    ['Running', 'Failed'],
    ['Succeeded', 'Succeeded'],
    ['Failed', 'Failed'],
  ] as const)('%s becomes %s', (phase, next) => {
    expect(terminatedPodStatus(aPod(), {phase}).phase).toBe(next);
  });
});

describe('containers that may have run are terminated', () => {
  test('in a pod without init containers', () => {
    const containerStatuses = [status('main'), status('done', exited(0))];
    expect(lost(terminatedPodStatus(aPod(), {phase: 'Pending', containerStatuses}))).toEqual(['main']);
  });

  test.each<[string, object, Partial<ContainerStatus>, readonly string[]]>([
    ['waits', {}, {}, ['init']],
    ['failed', {}, exited(1), []],
    ['succeeded', {}, exited(0), ['main']],
    ['succeeded before', {}, {...exited(1), lastState: {terminated: {exitCode: 0}}}, ['main']],
    ['is a sidecar that has started', {restartPolicy: always}, running, ['init', 'main']],
    ['is a sidecar that has not started', {restartPolicy: always}, {...running, started: false}, ['init']],
  ])('if the init container %s', (_title, init, fields, expected) => {
    const pod = aPod({initContainers: [aContainer({name: 'init', ...init})]});
    const before: PodStatus = {
      phase: 'Pending',
      initContainerStatuses: [status('init', fields)],
      containerStatuses: [status('main')],
    };
    expect(lost(terminatedPodStatus(pod, before))).toEqual(expected);
  });

  test.each([
    ['before its termination began', '2026-05-01T11:59:59Z', ['main']],
    ['when it was stopped', '2026-05-01T12:00:00Z', []],
  ])('if the last init container succeeded %s', (_title, finishedAt, expected) => {
    const pod = aPod({initContainers: [aContainer({name: 'init'})]});
    const before: PodStatus = {
      phase: 'Pending',
      initContainerStatuses: [status('init', {state: {terminated: {exitCode: 0, finishedAt}}})],
      containerStatuses: [status('main')],
    };
    const terminatingAt = Date.parse('2026-05-01T12:00:00.500Z');
    expect(lost(terminatedPodStatus(pod, before, terminatingAt))).toEqual(expected);
  });

  test('up to the last init container that was started', () => {
    const pod = aPod({initContainers: ['a', 'b', 'c'].map((name) => aContainer({name}))});
    const initContainerStatuses = [status('a', exited(0)), status('b', running), status('c')];
    expect(lost(terminatedPodStatus(pod, {phase: 'Pending', initContainerStatuses}))).toEqual(['b']);
  });
});
