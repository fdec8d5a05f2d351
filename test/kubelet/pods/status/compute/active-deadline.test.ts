import {expect, test} from 'vitest';
import type {PodStatus} from '../../../../../src/api/types/v1-status.js';
import {
  DEADLINE_EXCEEDED,
  isDeadlineExceeded,
} from '../../../../../src/kubelet/pods/status/compute/active-deadline.js';
import {aPod} from '../../../../fakes/a-pod.js';
import {computeStatus} from './compute-status.js';

const startTime = '2026-05-01T12:00:00Z';
const START = Date.parse(startTime);

// Proves: PodSpec.activeDeadlineSeconds
test.each<[number | undefined, PodStatus, number, boolean]>([
  [5, {startTime}, 4999, false],
  [5, {startTime}, 5000, true],
  [undefined, {startTime}, 1e9, false],
  [5, {}, 1e9, false],
])(
  'a deadline of %s s with the status %j is exceeded after %i ms: %s',
  (activeDeadlineSeconds, status, after, expected) => {
    const pod = aPod(activeDeadlineSeconds === undefined ? {} : {activeDeadlineSeconds});
    expect(isDeadlineExceeded(pod, status, START + after)).toBe(expected);
  },
);

const statusAt = (after: number, previous: PodStatus = {}, enforcesDeadline = true): PodStatus =>
  computeStatus({
    pod: aPod({activeDeadlineSeconds: 5}),
    previous: {startTime, ...previous},
    now: START + after,
    enforcesDeadline,
  });

test('a pod past its deadline is Failed, unless it was terminal before or the deadline is not enforced', () => {
  expect(statusAt(4999).phase).toBe('Running');
  expect(statusAt(5000)).toMatchObject(DEADLINE_EXCEEDED);
  expect(statusAt(5000, {}, false).phase).toBe('Running');
  const evicted = {phase: 'Failed', reason: 'Evicted', message: 'm'} as const;
  expect(statusAt(5000, evicted)).toMatchObject(evicted);
  const succeeded = statusAt(5000, {phase: 'Succeeded'});
  expect([succeeded.phase, succeeded.reason, succeeded.message]).toEqual(['Succeeded', undefined, undefined]);
});
