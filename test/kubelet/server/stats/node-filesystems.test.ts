import {expect, test} from 'vitest';
import {parseMountInfo} from '../../../../src/base/fs/mount-info.js';
import {localFilesystems} from '../../../../src/kubelet/server/stats/storage/node-filesystems.js';

test('each file system on a device of the node is read once, and those of servers and in memory are not', () => {
  const mounts = parseMountInfo(
    [
      '20 1 8:1 /sub /mnt/bind rw - ext4 /dev/sda1 rw',
      '21 1 8:1 / / rw - ext4 /dev/sda1 rw',
      '22 1 8:1 / /again rw - ext4 /dev/sda1 rw',
      '23 1 0:40 / /nfs rw - nfs4 server:/export rw',
      '24 1 0:41 / /run rw - tmpfs tmpfs rw',
      '25 1 8:17 / /data rw - xfs /dev/sdb1 rw',
      '',
    ].join('\n'),
  );
  expect(localFilesystems(mounts).map(({source, path}) => [source, path])).toEqual([
    ['/dev/sda1', '/'],
    ['/dev/sdb1', '/data'],
  ]);
});
