import {describe, expect, test} from 'vitest';
import {parseThresholds} from '../../../../src/kubelet/resources/eviction-thresholds.js';
import type {
  EvictionSignal,
  EvictionThreshold,
} from '../../../../src/kubelet/contract/resources/eviction-settings.js';
import type {SignalObservations} from '../../../../src/kubelet/contract/resources/node-signals.js';
import {
  mostUrgent,
  NO_PRESSURE,
  nodePressures,
  observePressure,
  starvedResource,
  withContainerFsThresholds,
} from '../../../../src/kubelet/pods/eviction/pressure-state.js';
import {
  reclaimsContainers,
  reclaimsImages,
} from '../../../../src/kubelet/pods/eviction/reclaimed-resources.js';

const [HARD, INODES, MEMORY] = parseThresholds({
  'nodefs.available': '100',
  'nodefs.inodesFree': '10%',
  'memory.available': '50%',
}) as [EvictionThreshold, EvictionThreshold, EvictionThreshold];
const SOFT: EvictionThreshold = {...HARD, gracePeriodMs: 30_000};
const [RECLAIM] = parseThresholds({'nodefs.available': '20'});
const RECLAIMING: EvictionThreshold = {...HARD, minReclaim: RECLAIM!.value};

/** Returns observations of a node with a capacity of 1000 of everything. */
const available = (amounts: Partial<Record<EvictionSignal, number>>): SignalObservations =>
  new Map(
    Object.entries(amounts).map(([signal, amount]) => [
      signal as EvictionSignal,
      {available: BigInt(amount), capacity: 1000n},
    ]),
  );
const observe = (
  state: typeof NO_PRESSURE,
  thresholds: readonly EvictionThreshold[],
  amount: number,
  now: number,
) => observePressure(state, thresholds, available({'nodefs.available': amount}), now);

test('a hard threshold is due at once, and only below its value', () => {
  expect(observe(NO_PRESSURE, [HARD], 100, 0).due).toEqual([]);
  expect(observe(NO_PRESSURE, [HARD], 99, 0).due).toEqual([HARD]);
  expect(observePressure(NO_PRESSURE, [INODES], available({'nodefs.inodesFree': 99}), 0).due).toEqual([
    INODES,
  ]);
  expect(observePressure(NO_PRESSURE, [HARD], available({}), 0).due).toEqual([]);
});

test('a soft threshold is due after its grace period, which starts again after the pressure', () => {
  const first = observe(NO_PRESSURE, [SOFT], 50, 0);
  expect([first.due, nodePressures(first, {pressureTransitionMs: 1000}, 0)]).toEqual([[], ['DiskPressure']]);
  expect(observe(first, [SOFT], 50, 29_999).due).toEqual([]);
  expect(observe(first, [SOFT], 50, 30_000).due).toEqual([SOFT]);
  const relieved = observe(first, [SOFT], 200, 10_000);
  expect(observe(observe(relieved, [SOFT], 50, 20_000), [SOFT], 50, 40_000).due).toEqual([]);
});

test('a due threshold stays met until the minimum to reclaim is available in addition', () => {
  const low = observe(NO_PRESSURE, [RECLAIMING], 50, 0);
  const more = observe(low, [RECLAIMING], 119, 1);
  expect(more.due).toEqual([RECLAIMING]);
  expect(observe(more, [RECLAIMING], 120, 2).due).toEqual([]);
  expect(observe(NO_PRESSURE, [RECLAIMING], 119, 0).due).toEqual([]);
});

test('a condition lasts for the transition period after the pressure', () => {
  const settings = {pressureTransitionMs: 10_000};
  const low = observe(observe(NO_PRESSURE, [HARD], 50, 0), [HARD], 50, 5000);
  const relieved = observe(low, [HARD], 500, 6000);
  expect(nodePressures(relieved, settings, 14_999)).toEqual(['DiskPressure']);
  expect(nodePressures(relieved, settings, 15_000)).toEqual([]);
});

test('memory is reclaimed before everything else', () => {
  const observations = available({'nodefs.available': 0, 'memory.available': 0});
  const state = observePressure(NO_PRESSURE, [HARD, MEMORY], observations, 0);
  expect(mostUrgent(state)).toBe(MEMORY);
  expect(nodePressures(state, {pressureTransitionMs: 1}, 0)).toEqual(['MemoryPressure', 'DiskPressure']);
  expect(mostUrgent(NO_PRESSURE)).toBeUndefined();
});

test.each([
  ['memory.available', 'memory'],
  ['allocatableMemory.available', 'memory'],
  ['imagefs.available', 'ephemeral-storage'],
  ['containerfs.inodesFree', 'inodes'],
  ['pid.available', 'pids'],
] as const)('%s is about %s', (signal, resource) => {
  expect(starvedResource(signal)).toBe(resource);
});

const ONE_DISK = {dedicatedImageFs: false, splitContainerFs: false};
const IMAGE_DISK = {dedicatedImageFs: true, splitContainerFs: false};
const SPLIT_DISK = {dedicatedImageFs: true, splitContainerFs: true};

describe('the filesystem of containers has the thresholds of the one that it is on', () => {
  const thresholds = parseThresholds({
    ...{'nodefs.available': '1', 'nodefs.inodesFree': '2', 'imagefs.available': '3'},
    ...{'imagefs.inodesFree': '4', 'containerfs.available': '5'},
  });
  const copied = (layout: typeof ONE_DISK) =>
    withContainerFsThresholds(thresholds, layout).flatMap(({signal, value}) =>
      signal.startsWith('containerfs') ? [[signal, value]] : [],
    );
  const valueOf = (signal: string) => thresholds.find((each) => each.signal === signal)?.value;
  test.each([
    ['nodefs', ONE_DISK],
    ['imagefs', IMAGE_DISK],
    ['nodefs', SPLIT_DISK],
  ])('%s', (host, layout) => {
    expect(copied(layout)).toEqual([
      ['containerfs.available', valueOf(`${host}.available`)],
      ['containerfs.inodesFree', valueOf(`${host}.inodesFree`)],
    ]);
  });
});

test.each([
  ['nodefs.available', ONE_DISK, true, true],
  ['nodefs.available', IMAGE_DISK, false, false],
  ['imagefs.inodesFree', IMAGE_DISK, true, true],
  ['containerfs.available', IMAGE_DISK, true, true],
  ['nodefs.available', SPLIT_DISK, true, false],
  ['imagefs.available', SPLIT_DISK, false, true],
  ['containerfs.available', SPLIT_DISK, true, false],
  ['memory.available', ONE_DISK, false, false],
  ['pid.available', ONE_DISK, false, false],
] as const)(
  'for %s with %j, containers are removed: %s, images: %s',
  (signal, layout, containers, images) => {
    expect([reclaimsContainers(signal, layout), reclaimsImages(signal, layout)]).toEqual([
      containers,
      images,
    ]);
  },
);
