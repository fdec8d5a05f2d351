import {describe, expect, test} from 'vitest';
import type {ContainerStatus, PodCondition, PodStatus} from '../../../../../src/api/types/v1-status.js';
import {
  restoredStatus,
  waitingReasonsOf,
  withStoredReadiness,
  withStoredTimes,
} from '../../../../../src/kubelet/pods/status/compute/restored-status.js';

const EARLY = '2026-05-01T10:00:00Z';
const LATE = '2026-05-01T12:00:00Z';

const container = (fields: Partial<ContainerStatus>): ContainerStatus => ({
  ...{name: 'main', ready: true, restartCount: 0, image: '', imageID: ''},
  ...fields,
});

const condition = (
  type: string,
  status: PodCondition['status'],
  lastTransitionTime: string,
): PodCondition => ({
  ...{type, status, lastTransitionTime},
});

describe('restoredStatus', () => {
  const running = container({state: {running: {startedAt: EARLY}}});
  const ended = container({name: 'init', state: {terminated: {exitCode: 0}}});
  const withReady = (status: PodCondition['status']): PodStatus => ({
    conditions: [condition('Ready', status, EARLY)],
    containerStatuses: [running],
    initContainerStatuses: [ended],
  });

  test('a ready pod keeps the readiness of its containers', () => {
    expect(restoredStatus(withReady('True'))).toEqual(withReady('True'));
  });

  test('running containers of a pod that was not ready are not ready', () => {
    const {containerStatuses, initContainerStatuses} = restoredStatus(withReady('False'));
    expect(containerStatuses?.map(({ready}) => ready)).toEqual([false]);
    expect(initContainerStatuses?.map(({ready}) => ready)).toEqual([true]);
  });
});

describe('withStoredReadiness', () => {
  const id = (hex: string): string => `containerd://${hex.repeat(64)}`;
  const volumeMounts = [{name: 'data', mountPath: '/data'}];
  const running = (fields: Partial<ContainerStatus>): ContainerStatus =>
    container({containerID: id('a'), state: {running: {startedAt: EARLY}}, started: true, ...fields});
  const stored: PodStatus = {
    conditions: [condition('Ready', 'True', EARLY), condition('ContainersReady', 'True', EARLY)],
    containerStatuses: [running({volumeMounts})],
  };
  const unready = (fields: Partial<ContainerStatus> = {}): PodStatus => ({
    conditions: [condition('Ready', 'False', LATE), condition('Initialized', 'True', LATE)],
    containerStatuses: [running({started: false, ready: false, ...fields})],
  });

  test('an instance that has not been probed is as ready as it was, and so is its pod', () => {
    const restored = withStoredReadiness(unready(), stored, (_name, {before}) => before);
    expect(restored.containerStatuses).toEqual(stored.containerStatuses);
    expect(restored.conditions).toEqual([
      condition('Ready', 'True', EARLY),
      condition('Initialized', 'True', LATE),
    ]);
  });

  test('results of probes take precedence', () => {
    const restored = withStoredReadiness(unready(), stored, () => ({started: true, ready: false}));
    expect(restored.containerStatuses).toMatchObject([{started: true, ready: false}]);
    expect(restored.conditions).toEqual(unready().conditions);
  });

  test('another instance and one that has ended do not change', () => {
    for (const status of [unready({containerID: id('b')}), unready({state: {terminated: {exitCode: 1}}})])
      expect(withStoredReadiness(status, stored, (_name, {before}) => before)).toEqual(status);
  });

  test('no container of a pod that was not ready is ready', () => {
    const notReady = {...stored, conditions: [condition('Ready', 'False', EARLY)]};
    const restored = withStoredReadiness(unready(), notReady, (_name, {before}) => before);
    expect(restored.containerStatuses).toMatchObject([{started: true, ready: false}]);
  });
});

describe('withStoredTimes', () => {
  const stored = {startTime: EARLY, conditions: [condition('Ready', 'True', EARLY)]};

  test('start and unchanged conditions keep the stored times', () => {
    const status = {
      startTime: LATE,
      conditions: [condition('Ready', 'True', LATE), condition('Initialized', 'True', LATE)],
    };
    expect(withStoredTimes(status, stored)).toEqual({
      startTime: EARLY,
      conditions: [condition('Ready', 'True', EARLY), condition('Initialized', 'True', LATE)],
    });
  });

  test('a changed condition keeps its own time', () => {
    const changed = [condition('Ready', 'False', LATE)];
    expect(withStoredTimes({conditions: changed}, stored).conditions).toEqual(changed);
  });

  test('a status that is not computed yet gets the stored conditions', () => {
    expect(withStoredTimes({}, stored)).toEqual(stored);
  });

  test('a status that no kubelet has sent changes nothing', () => {
    expect(withStoredTimes({startTime: LATE}, {phase: 'Pending'})).toEqual({startTime: LATE});
  });
});

test('containers wait for the reasons of the status, unless they only are about to start', () => {
  const waiting = (name: string, reason: string) =>
    container({name, state: {waiting: {reason, message: 'why'}}});
  expect(
    waitingReasonsOf({
      initContainerStatuses: [waiting('init', 'ImagePullBackOff'), waiting('next', 'PodInitializing')],
      containerStatuses: [waiting('main', 'CrashLoopBackOff'), container({name: 'runs'})],
    }),
  ).toEqual({
    init: {reason: 'ImagePullBackOff', message: 'why'},
    main: {reason: 'CrashLoopBackOff', message: 'why'},
  });
});
