import {expect, test} from 'vitest';
import type {PodStatus} from '../../../src/api/v1-status.js';
import type {PodEvent} from '../../../src/kubelet/container/events.js';
import {DEADLINE_EXCEEDED, deadlineExceeded, tellDeadline} from '../../../src/kubelet/status/deadline.js';
import {podStatus} from '../../../src/kubelet/status/pod-status.js';
import {aPod, aStatus, anInstance} from '../kuberuntime/builders.js';

const startTime = '2026-05-01T12:00:00Z';
const START = Date.parse(startTime);

test.each<[number | undefined, PodStatus, number, boolean]>([
  [5, {startTime}, 4999, false],
  [5, {startTime}, 5000, true],
  [undefined, {startTime}, 1e9, false],
  [5, {}, 1e9, false],
])('a deadline of %s s, %j, after %i ms: %s', (activeDeadlineSeconds, status, after, expected) => {
  const pod = aPod(activeDeadlineSeconds === undefined ? {} : {activeDeadlineSeconds});
  expect(deadlineExceeded(pod, status, START + after)).toBe(expected);
});

const statusAt = (after: number, previous: PodStatus = {}, keepsDeadline = true): PodStatus =>
  podStatus({
    pod: aPod({activeDeadlineSeconds: 5}),
    runtime: aStatus([anInstance('main', 'CONTAINER_RUNNING')]),
    reasons: new Map(),
    previous: {startTime, ...previous},
    node: {nodeIps: [], runtime: {handlers: new Map()}},
    runtimeName: 'containerd',
    now: START + after,
    keepsDeadline,
  });

test('a pod that is past its deadline has failed, unless it had ended before or is only looked at', () => {
  expect(statusAt(4999).phase).toBe('Running');
  expect(statusAt(5000)).toMatchObject(DEADLINE_EXCEEDED);
  expect(statusAt(5000, {}, false).phase).toBe('Running');
  const evicted = {phase: 'Failed', reason: 'Evicted', message: 'm'} as const;
  expect(statusAt(5000, evicted)).toMatchObject(evicted);
  const succeeded = statusAt(5000, {phase: 'Succeeded'});
  expect([succeeded.phase, succeeded.reason, succeeded.message]).toEqual(['Succeeded', undefined, undefined]);
});

test('the deadline is told once', () => {
  const events: PodEvent[] = [];
  const pod = aPod({activeDeadlineSeconds: 5});
  const tell = (before: PodStatus | undefined, now: PodStatus): void => {
    tellDeadline((event) => void events.push(event), pod, {before, now});
  };
  tell(undefined, {phase: 'Running'});
  expect(events).toEqual([]);
  tell({phase: 'Running'}, DEADLINE_EXCEEDED);
  tell(DEADLINE_EXCEEDED, DEADLINE_EXCEEDED);
  const {reason, message} = DEADLINE_EXCEEDED;
  expect(events).toEqual([{type: 'Normal', reason, message, pod}]);
});
