import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {RunTool, ToolResult} from '../../../../../src/kubelet/managers/volumes/devices/disk-tools.js';
import {resizeFilesystem} from '../../../../../src/kubelet/managers/volumes/devices/resize-filesystem.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';

const {signal} = new AbortController();

/** Resizes a filesystem that blkid(8) describes so, and returns the other programs that were run. */
async function resize(blkid: ToolResult, result: ToolResult, device = '/dev/x'): Promise<readonly string[]> {
  const commands: string[] = [];
  const runTool: RunTool = async (program, args) => {
    if (program === 'blkid') return blkid;
    commands.push([program, ...args].join(' '));
    return result;
  };
  await resizeFilesystem({device, path: '/mnt'}, runTool, signal);
  return commands;
}

const DONE: ToolResult = {exitCode: 0, output: ''};
const ofType = (type: string): ToolResult => ({exitCode: 0, output: `TYPE=${type}\n`});

test.each([
  ['ext3', 'resize2fs /dev/x'],
  ['ext4', 'resize2fs /dev/x'],
  ['xfs', 'xfs_growfs -d /mnt'],
  ['btrfs', 'btrfs filesystem resize max /mnt'],
])('a filesystem of the type %s is enlarged with %s', async (type, command) => {
  expect(await resize(ofType(type), DONE)).toEqual([command]);
});

test('a device without a filesystem is left alone', async () => {
  const device = join(await temporaryDirectory(), 'disk');
  await writeFile(device, 'empty');
  expect(await resize({exitCode: 2, output: ''}, DONE, device)).toEqual([]);
});

test.each([
  [
    ofType('vfat'),
    DONE,
    'ResizeFS.Resize - resize of format vfat is not supported for device /dev/x mounted at /mnt',
  ],
  [
    ofType('ext4'),
    {exitCode: 1, output: 'bad magic'},
    'resize of device /dev/x failed: exit status 1. resize2fs output: bad magic',
  ],
  [
    ofType('xfs'),
    {exitCode: undefined, output: ''},
    'resize of device /mnt failed: executable file not found in $PATH. xfs_growfs output: ',
  ],
])(
  'a filesystem that cannot be enlarged fails with the message of a kubelet',
  async (blkid, result, message) => {
    await expect(resize(blkid, result)).rejects.toMatchObject({message});
  },
);
