import {describe, expect, test} from 'vitest';
import {podUid} from '../../../../src/cri/index.js';
import {
  computeEffectiveGracePeriod,
  computeTermination,
  NetworkNotReadyError,
  computeRequeueDelay,
} from '../../../../src/kubelet/pods/workers/worker-state.js';
import {StaticPodStartQueue} from '../../../../src/kubelet/pods/workers/static-pod-start-queue.js';
import {aPod} from '../../../fakes/a-pod.js';

describe('the grace period of a terminating pod', () => {
  interface Facts {
    readonly current?: number;
    readonly spec: number;
    readonly deletion?: number;
    readonly override?: number;
  }
  // Proves: PodSpec.terminationGracePeriodSeconds
  test.each<[string, Facts, number]>([
    ['is terminationGracePeriodSeconds of the pod', {spec: 30}, 30],
    ['is 1 s for a pod with 0', {spec: 0}, 1],
    ['is deletionGracePeriodSeconds of the pod', {spec: 30, deletion: 10}, 10],
    [
      'is deletionGracePeriodSeconds, even if it exceeds terminationGracePeriodSeconds',
      {spec: 30, deletion: 60},
      60,
    ],
    ['is the override', {spec: 30, override: 5}, 5],
    ['is the shorter of the two', {spec: 30, deletion: 10, override: 5}, 5],
    ['is not extended by an override', {spec: 30, deletion: 10, override: 20}, 10],
    ['never increases', {current: 5, spec: 30, deletion: 10}, 5],
    ['decreases', {current: 20, spec: 30, deletion: 10}, 10],
    ['is unchanged without a deletion or an override', {current: 20, spec: 30}, 20],
    ['is at least 1 s', {current: 20, spec: 30, override: 0}, 1],
  ])('%s', (_name, {current = 0, spec, deletion, override}, expected) => {
    const pod = aPod(
      {terminationGracePeriodSeconds: spec},
      deletion === undefined ? {} : {deletionGracePeriodSeconds: deletion},
    );
    expect(computeEffectiveGracePeriod(current, pod, override)).toBe(expected);
  });

  test('for a pod known only from the runtime is the override or 1 s', () => {
    expect(computeEffectiveGracePeriod(0, undefined, undefined)).toBe(1);
    expect(computeEffectiveGracePeriod(0, undefined, 7)).toBe(7);
  });
});

describe('a pod is terminated', () => {
  const running = {uid: podUid('u'), name: 'web', namespace: 'default', isRunning: true};
  test('if only the runtime knows it', () => {
    expect(computeTermination({type: 'kill', running})).toBe('deleted');
  });
  test('once it has a deletion timestamp, whatever the update', () => {
    const pod = aPod({}, {deletionTimestamp: '2026-01-01T00:00:00Z'});
    expect(computeTermination({type: 'sync', pod})).toBe('deleted');
  });
  test.each(['Failed', 'Succeeded'] as const)('once its phase is %s', (phase) => {
    expect(computeTermination({type: 'create', pod: {...aPod(), status: {phase}}})).toBe('other');
  });
  test('by a kill or an eviction', () => {
    expect(computeTermination({type: 'kill', pod: aPod()})).toBe('other');
    expect(computeTermination({type: 'kill', pod: aPod(), kill: {evict: true}})).toBe('evicted');
  });
  test.each(['create', 'update', 'sync'] as const)('not by an update of type %s', (type) => {
    expect(computeTermination({type, pod: aPod()})).toBeUndefined();
  });
});

describe('the time until the next sync', () => {
  const at = (random: number) => ({now: 1000, syncFrequencyMs: 60_000, random});
  test('is 1 to 1.5 times the sync frequency after a success', () => {
    expect(computeRequeueDelay({}, at(0))).toBe(60_000);
    expect(computeRequeueDelay({}, at(1))).toBe(90_000);
  });
  test('is 10 s after an error', () => {
    expect(computeRequeueDelay({error: new Error('x')}, at(0))).toBe(10_000);
  });
  test('is 1 s while the network is not ready', () => {
    expect(computeRequeueDelay({error: new NetworkNotReadyError('x')}, at(0))).toBe(1000);
  });
  test('is the remaining back-off', () => {
    expect(computeRequeueDelay({error: new Error('x'), retryAt: 21_000}, at(0))).toBe(20_000);
    expect(computeRequeueDelay({error: new Error('x'), retryAt: 21_000}, at(0.5))).toBe(25_000);
  });
  test('is the time until the next refresh of the volumes after a success', () => {
    expect(computeRequeueDelay({retryAt: 21_000}, at(0))).toBe(20_000);
    expect(computeRequeueDelay({retryAt: 301_000}, at(0))).toBe(60_000);
  });
  test('is never negative and never exceeds the sync frequency', () => {
    expect(computeRequeueDelay({error: new Error('x'), retryAt: 500}, at(1))).toBe(0);
    expect(computeRequeueDelay({error: new Error('x'), retryAt: 301_000}, at(0))).toBe(60_000);
  });
});

describe('static pods', () => {
  const [a, b, c] = [podUid('a'), podUid('b'), podUid('c')];
  test('of one full name start one at a time, in the order of their requests', () => {
    const queue = new StaticPodStartQueue();
    expect(queue.tryStart('web_default', a)).toBe(true);
    expect(queue.tryStart('web_default', a)).toBe(true);
    expect(queue.tryStart('web_default', b)).toBe(false);
    expect(queue.tryStart('web_default', c)).toBe(false);
    expect(queue.release('web_default', a)).toBe(b);
    expect(queue.tryStart('web_default', c)).toBe(false);
    expect(queue.tryStart('web_default', b)).toBe(true);
    expect(queue.release('web_default', b)).toBe(c);
  });
  test('of different names do not wait for each other', () => {
    const queue = new StaticPodStartQueue();
    expect(queue.tryStart('web_default', a)).toBe(true);
    expect(queue.tryStart('db_default', b)).toBe(true);
  });
  test('leave the queue if they never start', () => {
    const queue = new StaticPodStartQueue();
    queue.tryStart('web_default', a);
    queue.tryStart('web_default', b);
    queue.tryStart('web_default', c);
    expect(queue.release('web_default', b)).toBeUndefined();
    expect(queue.release('web_default', a)).toBe(c);
  });
});
