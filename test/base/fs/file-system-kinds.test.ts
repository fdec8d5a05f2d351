import {expect, test} from 'vitest';
import {areAllLocal, isOnDevice, mayHang} from '../../../src/base/fs/file-system-kinds.js';

const ROOT = '25 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n';
const mounted = (type: string, path = '/srv\\040-\\040ext4'): string =>
  `${ROOT}60 25 0:52 / ${path} rw,relatime shared:7 - ${type} source rw\n`;

test.each(['ext4', 'xfs', 'tmpfs', 'overlay', 'cgroup', 'cgroup2'])('%s is local', (type) => {
  expect({local: areAllLocal(mounted(type)), hangs: mayHang(type)}).toEqual({local: true, hangs: false});
});

test.each(['nfs', 'nfs4', 'cifs', 'ceph', '9p', 'virtiofs', 'fuse', 'fuseblk', 'fuse.sshfs', 'autofs'])(
  '%s may wait for another machine or a program',
  (type) => {
    expect(mayHang(type)).toBe(true);
    expect(areAllLocal(mounted(type))).toBe(false);
    expect(areAllLocal(`${mounted(type)}${ROOT}`)).toBe(false);
  },
);

test.each(['ext4x', 'tmpfs.x', 'unknown'])('%s is neither', (type) => {
  expect({local: areAllLocal(mounted(type)), hangs: mayHang(type)}).toEqual({local: false, hangs: false});
});

test('an automounter is local for binfmt_misc only', () => {
  const path = '/proc/sys/fs/binfmt_misc';
  expect(areAllLocal(mounted('autofs', path))).toBe(true);
  expect(areAllLocal(mounted('autofs', `${path}/net`))).toBe(false);
  expect(areAllLocal(mounted('nfs', path))).toBe(false);
  expect(areAllLocal(mounted('autofs', path) + mounted('autofs', '/net'))).toBe(false);
});

test.each([
  ['ext4', true],
  ['btrfs', true],
  ['overlay', false],
  ['nfs', false],
])('%s is on a device of the node: %s', (type, expected) => {
  expect(isOnDevice(type)).toBe(expected);
});
