import {truncate, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {SystemError} from '../../../../../src/base/errors.js';
import type {MountPoint} from '../../../../../src/base/fs/mount-info.js';
import type {RunTool, ToolResult} from '../../../../../src/kubelet/managers/volumes/devices/disk-tools.js';
import {
  evaluateCheck,
  formatAndMount,
  parseDiskFormat,
  PARTITIONS,
  type DeviceMount,
  type DeviceNotice,
} from '../../../../../src/kubelet/managers/volumes/devices/format-and-mount.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';

const {signal} = new AbortController();

/** Hints of a local volume. */
const HINTS = {
  fsType: 'spec.local.fsType of the PersistentVolume',
  partitions: 'set spec.local.path of the PersistentVolume to one of them',
};

const MISSING: ToolResult = {exitCode: undefined, output: ''};

const exits = (exitCode: number | null, output = ''): ToolResult => ({exitCode, output});

const EMPTY = exits(2);
const EXT4 = exits(0, 'DEVNAME=/dev/x\nTYPE=ext4\n');
const XFS = exits(0, 'DEVNAME=/dev/x\nTYPE=xfs\n');
const DOS = exits(0, 'DEVNAME=/dev/x\nPTTYPE=dos\n');
const CLEAN = exits(0);

test.each<[string, ToolResult, string | undefined]>([
  ['nothing', EMPTY, undefined],
  ['a filesystem', EXT4, 'ext4'],
  ['a partition table', DOS, PARTITIONS],
  ['a filesystem and a partition table', exits(0, 'TYPE=vfat\nPTTYPE=dos\n'), PARTITIONS],
  ['a volume of LVM', exits(0, 'TYPE=LVM2_member\n'), 'LVM2_member'],
])('the format of a disk on which blkid finds %s is %3$s', (_title, result, format) => {
  expect(parseDiskFormat(result)).toBe(format);
});

test.each<[string, ToolResult, string]>([
  ['contradictory signatures', exits(8), 'exit status 8'],
  ['a usage error', exits(4, 'blkid: invalid option -- p'), 'exit status 4: blkid: invalid option -- p'],
  ['a kill', exits(null), 'signal: killed'],
  ['no blkid', MISSING, 'executable file not found in $PATH'],
  ['a message beside the code for an unformatted disk', exits(2, 'error: I/O'), 'exit status 2: error: I/O'],
  [
    'success without a format',
    exits(0, 'DEVNAME=/dev/x\n'),
    'blkid returns invalid output: DEVNAME=/dev/x\n',
  ],
  ['an empty type', exits(0, 'TYPE=\n'), 'blkid returns invalid output: TYPE=\n'],
  ['a line without a value', exits(0, 'TYPE'), 'blkid returns invalid output: TYPE'],
  ['a line with two values', exits(0, 'TYPE=a=b'), 'blkid returns invalid output: TYPE=a=b'],
])('a disk is not taken for an unformatted one after %s', (_title, result, message) => {
  expect(() => parseDiskFormat(result)).toThrow(
    expect.objectContaining({message, hint: expect.any(String) as string}),
  );
});

test.each<[string, ToolResult, DeviceNotice['reason'] | undefined, string]>([
  ['no errors', CLEAN, undefined, ''],
  [
    'corrected errors',
    exits(1, 'fixed'),
    'FileSystemRepaired',
    'Device /dev/x has errors which were corrected by fsck',
  ],
  [
    'a correction that needs a reboot',
    exits(2),
    'FileSystemCheckFailed',
    'fsck on device /dev/x failed with error exit status 2, output: ',
  ],
  [
    'an operational error',
    exits(8, 'odd'),
    'FileSystemCheckFailed',
    'fsck on device /dev/x failed with error exit status 8, output: odd',
  ],
  [
    'a kill',
    exits(null),
    'FileSystemCheckFailed',
    'fsck on device /dev/x failed with error signal: killed, output: ',
  ],
  [
    'no fsck',
    MISSING,
    'FileSystemCheckFailed',
    'fsck on device /dev/x failed with error executable file not found in $PATH, output: ',
  ],
])('a filesystem is mounted after a check with %s', (_title, result, reason, message) => {
  const notice = evaluateCheck('/dev/x', result);
  expect([notice?.reason, notice?.message ?? '']).toEqual([reason, message]);
});

test('a filesystem is not mounted after a check with errors that remain', () => {
  expect(() => evaluateCheck('/dev/x', exits(4, 'inode 7 is odd'))).toThrow(
    "'fsck' found errors on device /dev/x but could not correct them: inode 7 is odd",
  );
});

/** Result of formatAndMount on a disk with faked tools, whose path is shown as DEV. */
interface Outcome {
  readonly commands: readonly string[];
  readonly notices: readonly string[];
  readonly error: SystemError | undefined;
}

interface Attempt {
  readonly blkid: ToolResult;
  readonly fsck?: ToolResult;
  readonly mkfs?: ToolResult;
  readonly mount?: Partial<DeviceMount>;
  readonly mountError?: SystemError;
  /** Size of the disk. */
  readonly bytes?: number;
  /** Source of another mount of the node. */
  readonly mounted?: (device: string) => string;
}

async function attempt({
  blkid,
  fsck = CLEAN,
  mkfs = CLEAN,
  bytes = 4096,
  ...more
}: Attempt): Promise<Outcome> {
  const device = join(await temporaryDirectory(), 'disk');
  await writeFile(device, '');
  await truncate(device, bytes);
  const shown = (text: string): string => text.replaceAll(device, 'DEV');
  const commands: string[] = [];
  const notices: string[] = [];
  const runTool: RunTool = async (program, args) => {
    commands.push(shown([program, ...args].join(' ')));
    return {blkid, fsck}[program] ?? mkfs;
  };
  const mounts = more.mounted === undefined ? [] : [aMount(more.mounted(device))];
  const mounter = {
    list: async () => mounts,
    mountDevice: async (
      ...[source, path, type, options]: readonly [string, string, string, readonly string[]]
    ) => {
      commands.push(shown(`mount -t ${type} -o ${options.join(',')} ${source} ${path}`));
      if (more.mountError !== undefined) throw more.mountError;
    },
  };
  const notify = ({type, reason, message}: DeviceNotice): void => {
    notices.push(shown(`${type} ${reason}: ${message}`));
  };
  const mount = {device, path: '/global', fileSystem: 'ext4', options: [], hints: HINTS, ...more.mount};
  const error = await formatAndMount(mount, {runTool, mounter, notify}, signal).then(
    () => undefined,
    (cause: unknown) => cause as SystemError,
  );
  return {
    commands,
    notices,
    error: error && new SystemError(shown(error.message), {hint: error.hint && shown(error.hint)}),
  };
}

function aMount(source: string): MountPoint {
  const flags = {isSlave: false, isShared: false, device: '8:1'};
  return {id: 2, parentId: 1, root: '/', path: '/elsewhere', fileSystem: 'ext4', source, ...flags};
}

const PROBE = 'blkid -p -s TYPE -s PTTYPE -o export DEV';
const CHECK = 'fsck -a DEV';
const MOUNT = 'mount -t ext4 -o defaults DEV /global';

test.each<[string, Attempt, readonly string[]]>([
  ['an unformatted disk is formatted', {blkid: EMPTY}, ['mkfs.ext4 -F -m0 DEV', MOUNT]],
  [
    'an unformatted disk is formatted with ext3',
    {blkid: EMPTY, mount: {fileSystem: 'ext3'}},
    ['mkfs.ext3 -F -m0 DEV', 'mount -t ext3 -o defaults DEV /global'],
  ],
  [
    'an unformatted disk is formatted with xfs',
    {blkid: EMPTY, mount: {fileSystem: 'xfs'}},
    ['mkfs.xfs -f DEV', 'mount -t xfs -o defaults DEV /global'],
  ],
  [
    'an unformatted disk is formatted with another type, without options',
    {blkid: EMPTY, mount: {fileSystem: 'btrfs'}},
    ['mkfs.btrfs DEV', 'mount -t btrfs -o defaults DEV /global'],
  ],
  ['a filesystem is checked, and not formatted', {blkid: EXT4}, [CHECK, MOUNT]],
  [
    'mount options are kept, and a read-only filesystem is not checked',
    {blkid: EXT4, mount: {options: ['noatime', 'ro']}},
    ['mount -t ext4 -o noatime,ro,defaults DEV /global'],
  ],
  ['a filesystem of another type is checked, and mounted as what is wanted', {blkid: XFS}, [CHECK, MOUNT]],
  ['a disk with partitions is neither formatted nor checked', {blkid: DOS}, [MOUNT]],
  [
    'a filesystem that is mounted elsewhere is not checked',
    {blkid: EXT4, mounted: (device) => device},
    [MOUNT],
  ],
  [
    'a filesystem is checked beside mounts of other devices',
    {blkid: EXT4, mounted: () => '/dev/does-not-exist'},
    [CHECK, MOUNT],
  ],
])('%s', async (_title, given, commands) => {
  expect(await attempt(given)).toMatchObject({commands: [PROBE, ...commands], error: undefined});
});

test('formatting is reported', async () => {
  const {notices} = await attempt({blkid: EMPTY});
  expect(notices).toEqual(['Normal VolumeFormatted: Formatted the empty disk DEV with ext4']);
});

test('a failed check is reported, and the filesystem is mounted', async () => {
  const {notices, commands} = await attempt({blkid: EXT4, fsck: exits(8, 'odd')});
  expect(notices).toEqual([
    'Warning FileSystemCheckFailed: fsck on device DEV failed with error exit status 8, output: odd',
  ]);
  expect(commands).toEqual([PROBE, CHECK, MOUNT]);
});

const WRONG_TYPE = new SystemError('mount failed: exit status 32');

test.each<[string, Attempt, string, string, readonly string[]]>([
  [
    'an unformatted disk for reading only',
    {blkid: EMPTY, mount: {options: ['ro']}},
    'cannot mount unformatted disk DEV as we are manipulating it in read-only mode',
    'use the volume in a pod that may write first',
    [],
  ],
  [
    'a disk that blkid cannot judge',
    {blkid: exits(8)},
    'failed to get disk format of disk DEV: exit status 8',
    'the device has the signatures of several filesystems: list them with wipefs, and remove the wrong ones',
    [],
  ],
  [
    'a disk without blkid',
    {blkid: MISSING},
    'failed to get disk format of disk DEV: executable file not found in $PATH',
    'install the package that contains blkid, such as util-linux',
    [],
  ],
  [
    'a drive without a medium',
    {blkid: EMPTY, bytes: 0},
    'failed to get disk format of disk DEV: it has no capacity',
    'check with lsblk that the device has a medium',
    [],
  ],
  [
    'a disk that mkfs cannot format',
    {blkid: EMPTY, mkfs: exits(1, 'too small')},
    'format of disk "DEV" failed: type:("ext4") target:("/global") options:("defaults") errcode:(exit status 1) output:(too small) ',
    'try by hand: mkfs.ext4 -F -m0 DEV',
    ['mkfs.ext4 -F -m0 DEV'],
  ],
  [
    'a disk without its mkfs',
    {blkid: EMPTY, mkfs: MISSING, mount: {fileSystem: 'xfs', options: ['noatime']}},
    'format of disk "DEV" failed: type:("xfs") target:("/global") options:("noatime,defaults") errcode:(executable file not found in $PATH) output:() ',
    'install the package that contains mkfs.xfs, or change spec.local.fsType of the PersistentVolume',
    ['mkfs.xfs -f DEV'],
  ],
  [
    'a broken filesystem',
    {blkid: EXT4, fsck: exits(4, 'odd')},
    "'fsck' found errors on device DEV but could not correct them: odd",
    'repair it by hand with: fsck DEV',
    [CHECK],
  ],
  [
    'a filesystem of another type',
    {blkid: XFS, mountError: WRONG_TYPE},
    'mount failed: exit status 32',
    'the device contains xfs: set spec.local.fsType of the PersistentVolume to it, or, if nobody needs the data, clear the device with: wipefs -a DEV',
    [CHECK, MOUNT],
  ],
  [
    'a disk with partitions',
    {blkid: DOS, mountError: WRONG_TYPE},
    'mount failed: exit status 32',
    'the device has partitions: set spec.local.path of the PersistentVolume to one of them, or, if nobody needs the data, clear the device with: wipefs -a DEV',
    [MOUNT],
  ],
])('the error for %s says what to do', async (_title, given, ...expected) => {
  const [message, hint, commands] = expected;
  const outcome = await attempt(given);
  expect(outcome.commands).toEqual([PROBE, ...commands]);
  expect([outcome.error?.message, outcome.error?.hint]).toEqual([message, hint]);
});

test('a disk that cannot be read is not formatted, although blkid calls it unformatted', async () => {
  const directory = await temporaryDirectory();
  const commands: string[] = [];
  const runTool: RunTool = async (program) => {
    commands.push(program);
    return EMPTY;
  };
  const mounter = {list: async () => [], mountDevice: async () => undefined};
  const mount = {device: directory, path: '/global', fileSystem: 'ext4', options: [], hints: HINTS};
  const mounting = formatAndMount(mount, {runTool, mounter, notify: () => undefined}, signal);
  await expect(mounting).rejects.toThrow(
    /^failed to get disk format of disk .*illegal operation on a directory/,
  );
  expect(commands).toEqual(['blkid']);
});

test('only blkid ends when the signal aborts', async () => {
  const withSignal: (readonly [string, boolean])[] = [];
  const device = join(await temporaryDirectory(), 'disk');
  await writeFile(device, 'x');
  for (const blkid of [EMPTY, EXT4]) {
    const runTool: RunTool = async (program, _args, options) => {
      withSignal.push([program, options.signal === signal]);
      return program === 'blkid' ? blkid : CLEAN;
    };
    const mounter = {list: async () => [], mountDevice: async () => undefined};
    const mount = {device, path: '/global', fileSystem: 'ext4', options: [], hints: HINTS};
    await formatAndMount(mount, {runTool, mounter, notify: () => undefined}, signal);
  }
  expect(withSignal).toEqual([
    ['blkid', true],
    ['mkfs.ext4', false],
    ['blkid', true],
    ['fsck', false],
  ]);
});
