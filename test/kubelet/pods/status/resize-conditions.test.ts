import {expect, test} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import type {PendingResize} from '../../../../src/kubelet/contract/pod-rejection.js';
import {ResizeConditionTracker} from '../../../../src/kubelet/pods/status/resize-conditions.js';
import {formatMs} from '../../../../src/kubelet/pods/status/compute/container-status.js';
import {aPod} from '../../../fakes/a-pod.js';
import {aRuntimePod} from '../../../fakes/a-runtime-pod.js';
import {FakeClock, TEST_TIME_MS} from '../../../fakes/fake-clock.js';

const generation = (pod: Pod, number: number): Pod => ({
  ...pod,
  metadata: {...pod.metadata, generation: number},
});
const deferred = (message: string, of = 2): PendingResize => ({
  reason: 'Deferred',
  message,
  pod: generation(aPod(), of),
});

function createTracker() {
  const clock = new FakeClock({nowMs: TEST_TIME_MS});
  const events: string[] = [];
  const tracker = new ResizeConditionTracker({
    clock,
    actuated: {current: undefined} as ConstructorParameters<typeof ResizeConditionTracker>[0]['actuated'],
    events: ({reason, message}) => void events.push(`${reason} ${/"generation":\d+/.exec(message)?.[0]}`),
  });
  return {tracker, clock, events};
}

test('a pending resize has an event with each reason and generation, but not with each message', async () => {
  const {tracker, clock, events} = createTracker();
  tracker.setReview(deferred('used: 1'));
  await clock.advance(60_000);
  tracker.setReview(deferred('used: 2'));
  expect(events).toEqual(['ResizeDeferred "generation":2']);
  expect(tracker.conditions).toEqual([
    {
      type: 'PodResizePending',
      status: 'True',
      reason: 'Deferred',
      message: 'used: 2',
      observedGeneration: 2,
      lastProbeTime: formatMs(TEST_TIME_MS + 60_000),
      lastTransitionTime: formatMs(TEST_TIME_MS),
    },
  ]);
  tracker.setReview(deferred('used: 2', 3));
  expect(events).toEqual(['ResizeDeferred "generation":2', 'ResizeDeferred "generation":3']);
  expect(tracker.conditions).toMatchObject([{observedGeneration: 3}]);
  tracker.setReview(undefined);
  expect(tracker.conditions).toEqual([]);
});

test('conditions of an earlier process continue without an event', () => {
  const first = createTracker();
  first.tracker.setReview(deferred('used: 1'));
  first.tracker.resizeStarted(generation(aPod(), 2));
  const {tracker, events} = createTracker();
  tracker.restore(first.tracker.conditions);
  tracker.setReview('unreviewed');
  tracker.setReview(deferred('used: 1'));
  expect(tracker.conditions).toEqual(first.tracker.conditions);
  expect(events).toEqual([]);
});

test('a resize in progress is about the generation that was granted, until it is complete', () => {
  const {tracker, events} = createTracker();
  tracker.resizeStarted(generation(aPod(), 2));
  const failure = {reason: 'ResizePodInPlaceError', message: 'no', cause: undefined} as const;
  const failed = [{action: 'ResizePodInPlace', target: 'web', failure}] as unknown as Parameters<
    typeof tracker.recordResults
  >[1];
  tracker.recordResults(generation(aPod(), 3), failed);
  tracker.recordResults(generation(aPod(), 3), failed);
  expect(tracker.conditions).toMatchObject([
    {type: 'PodResizeInProgress', reason: 'Error', message: 'no', observedGeneration: 2},
  ]);
  tracker.updateProgress(generation(aPod(), 3), aRuntimePod([]));
  expect(tracker.conditions).toEqual([]);
  expect(events.map((event) => event.split(' ')[0])).toEqual([
    'ResizeStarted',
    'ResizeError',
    'ResizeCompleted',
  ]);
  expect(events.every((event) => event.endsWith(':2'))).toBe(true);
});
