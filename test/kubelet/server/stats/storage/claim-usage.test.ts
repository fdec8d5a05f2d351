import {expect, test} from 'vitest';
import type {PodVolumeState} from '../../../../../src/kubelet/contract/volumes/pod-volume-state.js';
import {ClaimUsageReader} from '../../../../../src/kubelet/server/stats/storage/claim-usage.js';
import {SystemError} from '../../../../../src/base/errors.js';
import {FakeClock} from '../../../../fakes/fake-clock.js';

const USAGE = {
  ...{usedBytes: 4n, availableBytes: 6n, capacityBytes: 10n},
  ...{inodesUsed: 1n, inodesFree: 2n, inodes: 3n},
};

const aVolume = (measure: PodVolumeState['measure'], plugin = 'kubernetes.io/csi:a'): PodVolumeState => ({
  ...{name: 'v', plugin, path: '/v', claim: undefined, isMounted: true, measure},
});

test('a volume of a driver has the usage that the driver reports', async () => {
  const reader = new ClaimUsageReader(new FakeClock());
  const usage = await reader.measure(
    'default',
    aVolume(async () => USAGE),
    1,
  );
  expect(usage).toEqual({
    ...{name: 'v', timeNanos: 1_000_000n, isEphemeral: false, usedBytes: 4n, inodesUsed: 1n},
    capacity: {availableBytes: 6n, capacityBytes: 10n, inodes: 3n, inodesFree: 2n},
  });
});

test('a driver that fails or hangs has no usage, is not asked again meanwhile, and delays no other one', async () => {
  const reader = new ClaimUsageReader(new FakeClock({sleep: 'instant'}));
  let asked = 0;
  const hangs = aVolume(async () => {
    asked += 1;
    return await new Promise(() => undefined);
  });
  expect(await reader.measure('default', hangs, 1)).toBeUndefined();
  expect(await reader.measure('default', hangs, 1)).toBeUndefined();
  expect(asked).toBe(1);
  const fails = aVolume(async () => Promise.reject(new SystemError('no')), 'kubernetes.io/csi:b');
  expect(await reader.measure('default', fails, 1)).toBeUndefined();
});
