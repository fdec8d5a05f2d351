import {expect, test} from 'vitest';
import type {MountFacts} from '../../../../src/features/doctor/node-snapshot.js';
import {readNodeDisks} from '../../../../src/features/ui/live/node-disks.js';

interface PathFacts {
  readonly device?: string;
  readonly bytes?: number;
}

/** Reads the disks of paths with the devices that they are on and the sizes of those. */
async function disksOf(paths: Readonly<Record<string, PathFacts>>) {
  const files = {
    mount: async (path: string) => {
      const {device} = paths[path] ?? {};
      const mount: MountFacts = {
        path,
        fileSystem: 'ext4',
        source: '/dev/sda1',
        isReadOnly: false,
        device: device ?? '',
      };
      return await Promise.resolve(device === undefined ? {error: 'unknown'} : {value: mount});
    },
    space: async (path: string) => {
      const {bytes} = paths[path] ?? {};
      const space = {bytes: bytes ?? 0, availableBytes: 1, inodes: 1, freeInodes: 1};
      return await Promise.resolve(bytes === undefined ? {error: 'no such file'} : {value: space});
    },
  };
  const disks = await readNodeDisks(files, Object.keys(paths));
  return disks.map(({name, usedBytes}) => [name, usedBytes]);
}

test('file systems of the same size and usage are two', async () => {
  const found = await disksOf({
    '/': {device: '8:1', bytes: 100},
    '/var/lib/kubelet': {device: '8:2', bytes: 100},
  });
  expect(found).toEqual([
    ['/', 99],
    ['/var/lib/kubelet', 99],
  ]);
});

test('paths on one device are one file system, whatever it had when each was read', async () => {
  const found = await disksOf({
    '/': {device: '8:1', bytes: 100},
    '/var/lib/kubelet': {device: '8:1', bytes: 101},
  });
  expect(found).toEqual([['/', 99]]);
});

test('a path without space leaves its file system to the next', async () => {
  const found = await disksOf({'/missing': {device: '8:1'}, '/data': {device: '8:1', bytes: 10}});
  expect(found).toEqual([['/data', 9]]);
});

test('paths whose mounts are unknown are all shown', async () => {
  const found = await disksOf({'/': {bytes: 5}, '/data': {bytes: 5}});
  expect(found).toEqual([
    ['/', 4],
    ['/data', 4],
  ]);
});
