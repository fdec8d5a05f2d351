import {expect, test} from 'vitest';
import {
  mergeVolumeSteps,
  VolumeHistoryWriter,
} from '../../../../src/kubelet/pods/history/volume-histories.js';
import type {VolumeHistory, VolumeStep} from '../../../../src/kubelet/contract/volumes/volume-history.js';

const VOLUME = {name: 'data', volume: 'pv1', plugin: 'kubernetes.io/nfs', path: '/mnt'};
const START = Date.parse('2026-01-01T00:00:00Z');

/** Returns the time of a step by its index. */
function timeOf(index: number): string {
  return new Date(START + index * 1000).toISOString();
}

function merge(...steps: readonly VolumeStep[]): readonly VolumeHistory[] {
  return mergeVolumeSteps(
    [],
    steps.map((step, index) => ({at: START + index * 1000, step})),
  );
}

const STAGED: VolumeStep = {step: 'Staged', volume: VOLUME};
const MOUNTED: VolumeStep = {step: 'Mounted', volume: VOLUME, ms: 12.4};
const FAILED: VolumeStep = {step: 'Failed', volume: VOLUME, error: 'no route'};
const UNMOUNTED: VolumeStep = {step: 'Unmounted'};

test.each<readonly [string, readonly VolumeStep[], Partial<VolumeHistory>]>([
  ['a mount', [STAGED, MOUNTED], {stagedAt: timeOf(0), mountedAt: timeOf(1), mountMs: 12, failures: 0}],
  [
    'failures',
    [FAILED, FAILED],
    {failures: 2, totalFailures: 2, lastFailedAt: timeOf(1), lastError: 'no route'},
  ],
  ['a success after failures', [FAILED, MOUNTED], {failures: 0, totalFailures: 1, mountedAt: timeOf(1)}],
  ['another process', [MOUNTED, STAGED, MOUNTED], {mountedAt: timeOf(0), remountedAt: timeOf(2)}],
  ['an unmount', [MOUNTED, UNMOUNTED], {mountedAt: timeOf(0), unmountedAt: timeOf(1)}],
  ['a second unmount', [MOUNTED, UNMOUNTED, UNMOUNTED], {unmountedAt: timeOf(1)}],
  ['a mount after an unmount', [MOUNTED, UNMOUNTED, MOUNTED], {mountedAt: timeOf(2), unmountedAt: timeOf(1)}],
  [
    'a failed unmount',
    [MOUNTED, {step: 'UnmountFailed', error: 'busy'}],
    {failures: 1, lastError: 'busy', mountedAt: timeOf(0)},
  ],
  [
    'a failed unmount of what is not mounted',
    [FAILED, {step: 'UnmountFailed', error: 'busy'}],
    {failures: 1, lastError: 'no route'},
  ],
])('the history of %s follows from its steps', (_title, steps, expected) => {
  expect(merge(...steps)).toMatchObject([{...VOLUME, ...expected}]);
});

test('an unmount of a pod without volumes is nothing, and volumes keep their order', () => {
  expect(merge(UNMOUNTED)).toEqual([]);
  const other: VolumeStep = {step: 'Mounted', volume: {...VOLUME, name: 'other'}, ms: 1};
  expect(merge(other, MOUNTED, other).map(({name}) => name)).toEqual(['other', 'data']);
});

test('a writer reads once, writes what arrives together, and goes on after a failure', async () => {
  const written: number[] = [];
  const failures: unknown[] = [];
  let reads = 0;
  let isFull = false;
  const writer = new VolumeHistoryWriter({
    read: async () => {
      reads += 1;
      return merge(FAILED);
    },
    write: async ([history]) => {
      if (isFull) throw new Error('full');
      written.push(history?.totalFailures ?? 0);
    },
    onFailure: (error) => failures.push(error),
  });
  const add = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1) writer.add({at: START, step: FAILED});
    await writer.flush();
  };
  await add(2);
  isFull = true;
  await add(1);
  await add(1);
  isFull = false;
  await add(1);
  expect({reads, written, failures: failures.length}).toEqual({reads: 1, written: [3, 6], failures: 1});
});

test('no step is lost when the histories cannot be read, or their write fails', async () => {
  const written: number[] = [];
  const failing = new Set(['read', 'write']);
  const failOnce = (what: string): void => {
    if (failing.delete(what)) throw new Error(what);
  };
  const writer = new VolumeHistoryWriter({
    read: async () => {
      failOnce('read');
      return merge(FAILED);
    },
    write: async ([history]) => {
      failOnce('write');
      written.push(history?.totalFailures ?? 0);
    },
    onFailure: () => undefined,
  });
  writer.add({at: START, step: FAILED});
  await writer.flush();
  expect(written).toEqual([]);
  await writer.flush();
  expect(written).toEqual([2]);
  await writer.flush();
  expect(written).toEqual([2]);
});
