import {mkdir, writeFile} from 'node:fs/promises';
import {totalmem} from 'node:os';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {FilesystemUsage} from '../../../../../src/cri/index.js';
import {SystemError} from '../../../../../src/base/errors.js';
import {
  SignalReader,
  type SignalReaderOptions,
} from '../../../../../src/kubelet/server/stats/eviction/read-signals.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';
import {FakeClock} from '../../../../fakes/fake-clock.js';

const {signal} = new AbortController();
const MOUNTED = '/dev';
const NO_FILES = {used: undefined, usedBytes: undefined, inodesUsed: undefined};
const filesystem = (mountpoint: string): FilesystemUsage => ({
  timestamp: 0n,
  fsId: {mountpoint},
  ...NO_FILES,
});

/** Returns a reader of a node whose runtime has these filesystems, and the number of times that it was asked. */
async function createReader(
  paths: readonly string[],
  containers: readonly string[] = [],
  node: Partial<SignalReaderOptions['node']> = {},
) {
  const rootDir = await temporaryDirectory();
  const calls = {count: 0, fail: false};
  const reader = new SignalReader({
    node: {
      rootDir,
      cgroup: {version: 1, driver: 'cgroupfs', root: '', swapAccounting: false},
      cgroupMount: undefined,
      ...node,
    },
    images: {
      imageFsInfo: async () => {
        calls.count += 1;
        if (calls.fail) throw new SystemError('no answer');
        const [imageFilesystems, containerFilesystems] = [paths, containers].map((all) =>
          all.map((path) => filesystem(path === '' ? rootDir : path)),
        );
        return {imageFilesystems: imageFilesystems ?? [], containerFilesystems: containerFilesystems ?? []};
      },
    },
    clock: new FakeClock(),
  });
  return {reader, calls};
}

test('memory, processes and filesystems are observed; the runtime is asked for its filesystems once', async () => {
  const {reader, calls} = await createReader(['']);
  await reader.read(signal);
  const {observations, layout} = await reader.read(signal);
  expect(calls.count).toBe(1);
  const memory = observations.get('memory.available');
  expect(Number(memory?.capacity)).toBeCloseTo(totalmem(), -6);
  for (const name of ['memory', 'nodefs', 'imagefs', 'containerfs', 'pid'] as const) {
    const {available, capacity} = observations.get(`${name}.available`)!;
    expect(available).toBeGreaterThan(0n);
    expect(available).toBeLessThanOrEqual(capacity);
  }
  expect(layout).toEqual({dedicatedImageFs: false, splitContainerFs: false});
});

test.each([
  [[MOUNTED], [], {dedicatedImageFs: true, splitContainerFs: false}],
  [[MOUNTED], [''], {dedicatedImageFs: true, splitContainerFs: true}],
  [[MOUNTED], [MOUNTED], {dedicatedImageFs: true, splitContainerFs: false}],
  [['/nonexistent'], [], {dedicatedImageFs: false, splitContainerFs: false}],
  [[], [], {dedicatedImageFs: false, splitContainerFs: false}],
])('images on %j and containers on %j give %j', async (images, containers, layout) => {
  const {reader} = await createReader(images, containers);
  expect((await reader.read(signal)).layout).toEqual(layout);
});

test('a filesystem that is not visible here is not observed, and a runtime without answer is asked again', async () => {
  const {reader, calls} = await createReader(['/nonexistent']);
  calls.fail = true;
  await expect(reader.read(signal)).rejects.toThrow('no answer');
  calls.fail = false;
  const {observations} = await reader.read(signal);
  expect(observations.has('imagefs.available')).toBe(false);
  expect(observations.has('nodefs.available')).toBe(true);
});

test('a runtime that reports no filesystems at first is asked again', async () => {
  const paths: string[] = [];
  const {reader} = await createReader(paths);
  expect((await reader.read(signal)).observations.has('imagefs.available')).toBe(false);
  paths.push('');
  expect((await reader.read(signal)).observations.has('imagefs.available')).toBe(true);
});

test('the memory of all pods is what the limit of their cgroup leaves', async () => {
  const cgroupMount = await temporaryDirectory();
  const directory = join(cgroupMount, 'memory', 'kubepods');
  await mkdir(directory, {recursive: true});
  const files = {
    'memory.limit_in_bytes': '1000',
    'memory.usage_in_bytes': '700',
    'memory.stat': 'total_inactive_file 100\n',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  const {reader} = await createReader([], [], {cgroupMount});
  const {observations} = await reader.read(signal);
  expect(observations.get('allocatableMemory.available')).toEqual({available: 400n, capacity: 1000n});
});

test('memory is observed without the runtime and the filesystems', async () => {
  const {reader, calls} = await createReader(['']);
  const observations = reader.readMemory();
  expect([...observations.keys()]).toEqual(['memory.available', 'pid.available']);
  expect(Number(observations.get('memory.available')?.capacity)).toBeCloseTo(totalmem(), -6);
  expect(calls.count).toBe(0);
});
