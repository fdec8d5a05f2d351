import {expect, test} from 'vitest';
import type {PodVolumeState} from '../../../../../src/kubelet/contract/volumes/pod-volume-state.js';
import {ClaimUsageReader} from '../../../../../src/kubelet/server/stats/storage/claim-usage.js';
import {SystemError} from '../../../../../src/base/errors.js';
import {VolumeUsageReader} from '../../../../../src/kubelet/server/stats/storage/volume-usage.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';
import {until} from '../../../../base/until.js';
import {aPod} from '../../../../fakes/a-pod.js';
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

test('a filesystem of a FlexVolume is measured if its driver says so', async () => {
  const reader = new ClaimUsageReader(new FakeClock());
  const path = await temporaryDirectory();
  const volume = {...aVolume(undefined, 'example.com/box'), path};
  expect(await reader.measure('default', volume, 1)).toBeUndefined();
  const usage = await reader.measure('default', {...volume, isFilesystem: true}, 1);
  expect(usage?.capacity.capacityBytes).toBeGreaterThan(0n);
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

test('volumes are measured at once: a driver that hangs costs two seconds, once, and the others have their usage', async () => {
  const clock = new FakeClock();
  const volumes: readonly PodVolumeState[] = [
    {...aVolume(async () => new Promise(() => undefined)), name: 'hangs'},
    {...aVolume(async () => USAGE), name: 'hangs too'},
    {...aVolume(async () => USAGE, 'kubernetes.io/csi:b'), name: 'answers'},
  ];
  const rootDir = await temporaryDirectory();
  const reader = new VolumeUsageReader({node: {rootDir}, clock, volumeStatsPeriodMs: 60_000}, () => volumes);
  const pods = ['u1', 'u2'].map((uid) => aPod({}, {uid}));
  const reading = reader.read(pods);
  await until(() => clock.sleeping === 1);
  await clock.advance(2000);
  const usages = await reading;
  for (const uid of ['u1', 'u2']) expect(usages.get(uid)?.map(({name}) => name)).toEqual(['answers']);
  expect(clock.monotonic()).toBe(2000);
  await clock.advance(60_000);
  expect((await reader.read(pods)).get('u1')?.map(({name}) => name)).toEqual(['answers']);
});

test('a volume is measured again after volumeStatsAggPeriod, and never if it is negative', async () => {
  const clock = new FakeClock();
  const rootDir = await temporaryDirectory();
  let measurements = 0;
  const volumes = [
    aVolume(async () => {
      measurements++;
      return await Promise.resolve(USAGE);
    }),
  ];
  const pods = [aPod({}, {uid: 'u1'})];
  const reader = (volumeStatsPeriodMs: number): VolumeUsageReader =>
    new VolumeUsageReader({node: {rootDir}, clock, volumeStatsPeriodMs}, () => volumes);
  const [short, none] = [reader(5000), reader(-1)];
  await short.read(pods);
  await clock.advance(4999);
  await short.read(pods);
  expect(measurements).toBe(1);
  await clock.advance(1);
  await short.read(pods);
  expect([measurements, await none.read(pods)]).toEqual([2, new Map()]);
});
