import {expect, test} from 'vitest';
import {ReasonCache} from '../../../../src/kubelet/pods/status/reason-cache.js';
import type {SyncFailure, SyncResult} from '../../../../src/kubelet/contract/sync-result.js';

const failed = (failure: SyncFailure, target = 'web'): SyncResult => ({
  action: 'StartContainer',
  target,
  failure,
});

test('a failed start is recorded until the container starts', () => {
  const cache = new ReasonCache();
  cache.update([failed({reason: 'ErrImagePull', message: 'no such image'})]);
  expect(cache.reasons).toEqual(new Map([['web', {reason: 'ErrImagePull', message: 'no such image'}]]));
  expect(cache.backOffs).toEqual(new Map());
  cache.update([{action: 'StartContainer', target: 'web'}]);
  expect(cache.reasons).toEqual(new Map());
});

test('a back-off is recorded until the next start', () => {
  const cache = new ReasonCache();
  cache.update([failed({reason: 'CrashLoopBackOff', message: 'back-off', retryAt: 5000, backOffMs: 10_000})]);
  expect(cache.backOffs).toEqual(
    new Map([['web', {reason: 'CrashLoopBackOff', retryAt: 5000, delayMs: 10_000}]]),
  );
  cache.update([failed({reason: 'RunContainerError', message: 'exec format error'})]);
  expect(cache.backOffs).toEqual(new Map());
  expect(cache.reasons.get('web')?.reason).toBe('RunContainerError');
});

test('results of other actions are ignored', () => {
  const cache = new ReasonCache();
  const failure: SyncFailure = {reason: 'KillContainerError', message: 'busy'};
  cache.update([{action: 'KillContainer', target: 'web', failure}]);
  expect(cache.reasons).toEqual(new Map());
});

test('restored reasons are kept beside new ones', () => {
  const cache = new ReasonCache();
  cache.restore({init: {reason: 'CrashLoopBackOff', message: 'back-off'}});
  cache.update([failed({reason: 'ErrImagePull', message: 'no such image'})]);
  expect([...cache.reasons.keys()]).toEqual(['init', 'web']);
});
