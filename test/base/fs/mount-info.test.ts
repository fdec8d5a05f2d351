import {expect, test} from 'vitest';
import {parseMountInfo} from '../../../src/base/fs/mount-info.js';

test('a line of mountinfo is parsed with and without optional fields', () => {
  const text = [
    '27 1 254:0 / / rw,relatime - ext4 /dev/vda rw',
    '36 27 0:3 /sub /var/lib/a\\040b\\011c\\134d rw shared:1 master:2 - tmpfs tmpfs rw,size=4k',
    '',
  ].join('\n');
  expect(parseMountInfo(text)).toEqual([
    {
      id: 27,
      parentId: 1,
      device: '254:0',
      root: '/',
      path: '/',
      fileSystem: 'ext4',
      source: '/dev/vda',
      isSlave: false,
      isShared: false,
    },
    {
      id: 36,
      parentId: 27,
      device: '0:3',
      root: '/sub',
      path: '/var/lib/a b\tc\\d',
      fileSystem: 'tmpfs',
      source: 'tmpfs',
      isSlave: true,
      isShared: true,
    },
  ]);
});
