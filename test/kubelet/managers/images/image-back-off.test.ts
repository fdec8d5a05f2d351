import {expect, test} from 'vitest';
import type {SyncFailure} from '../../../../src/kubelet/contract/sync-result.js';
import {ImageBackOff} from '../../../../src/kubelet/managers/images/image-back-off.js';
import {collectGarbage} from '../../../base/collect-garbage.js';
import {aPod} from '../../../fakes/a-pod.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

test('the failures of pods that were deleted are forgotten when their back-off has expired', async () => {
  const clock = new FakeClock();
  const backOff = new ImageBackOff(clock);
  const fail = (uid: string): WeakRef<SyncFailure> => {
    const failure: SyncFailure = {reason: 'ErrImagePull', message: `no such image for ${uid}`};
    backOff.pullFailed({pod: aPod({}, {uid}), image: 'r.example/app:1'}, failure);
    return new WeakRef(failure);
  };
  const deleted = fail('deleted');
  clock.elapse(600_001);
  const recent = fail('recent');
  // A WeakRef keeps its object until the end of the turn.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  expect([deleted.deref(), recent.deref()?.reason]).toEqual([undefined, 'ErrImagePull']);
});
