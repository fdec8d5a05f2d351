import {realpath} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import {rethrowUnexpected, SystemError} from '../../../../../base/errors.js';
import {ifPresent, withFileErrors} from '../../../../../base/fs/files.js';
import {shellQuote} from '../../../../../base/shell-quote.js';
import {isMountOf} from '../../devices/block-device.js';
import {describeExit, type RunTool} from '../../devices/disk-tools.js';
import type {Mounter} from '../../mounter.js';
import {blockDir, listSysfs, readSysfs, writeSysfs} from './sysfs.js';

/** Tools to remove disks from the node. */
export interface DiskTools {
  readonly runTool: RunTool;
  readonly mounter: Pick<Mounter, 'list'>;
  /** Directory of sysfs. */
  readonly sys: string;
}

const TIMEOUT_MS = 60_000;
/** Name of a block device in /dev and sysfs. */
const DEVICE_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;
const MAPPED_NAME = /^dm-\d+$/;

/** Returns the name of the block device at the end of a link: `sdb`. Undefined if it is not in /dev or does not exist. */
export async function deviceNameOf(path: string): Promise<string | undefined> {
  const real = await withFileErrors('resolving', path, () => ifPresent(() => realpath(path)));
  if (real === undefined || dirname(real) !== '/dev') return undefined;
  const name = basename(real);
  return DEVICE_NAME.test(name) ? name : undefined;
}

/**
 * Returns the multipath device that a disk is a path of, as `dm-1`, or the disk itself if it is one (FindMultipathDeviceForDevice).
 * Unlike for a kubelet, other devices of the device mapper, such as logical volumes, are none.
 */
export async function findMultipath(name: string, sys: string): Promise<string | undefined> {
  if (MAPPED_NAME.test(name)) return name;
  for (const mapped of (await listSysfs(join(sys, 'block'))).filter((each) => MAPPED_NAME.test(each)))
    if ((await listPaths(mapped, sys)).includes(name) && (await isMultipath(mapped, sys))) return mapped;
  return undefined;
}

async function isMultipath(mapped: string, sys: string): Promise<boolean> {
  const uuid = await readSysfs(join(blockDir(sys, mapped), 'dm/uuid'));
  return uuid === undefined || uuid.startsWith('mpath-');
}

/** Returns the names of the disks that are paths of a multipath device (FindSlaveDevicesOnMultipath). */
export async function listPaths(mapped: string, sys: string): Promise<readonly string[]> {
  return (await listSysfs(join(blockDir(sys, mapped), 'slaves'))).filter((name) => DEVICE_NAME.test(name));
}

/**
 * Removes disks that nothing uses from the node, after the multipath devices on them. Unlike in a kubelet, a multipath device that
 * cannot be removed keeps its disks. Rejects with SystemError.
 */
export async function removeDisks(names: readonly string[], tools: DiskTools): Promise<void> {
  const {sys, runTool} = tools;
  const mapped = new Set<string>();
  for (const name of names) {
    const multipath = await findMultipath(name, sys);
    if (multipath !== undefined) mapped.add(multipath);
  }
  for (const name of [...mapped, ...names]) await requireUnmounted(`/dev/${name}`, tools);
  const disks = new Set(names.filter((name) => !mapped.has(name)));
  for (const name of mapped) {
    for (const path of await listPaths(name, sys)) disks.add(path);
    await flushMultipath(`/dev/${name}`, runTool);
  }
  for (const name of disks) {
    await flushBuffers(`/dev/${name}`, runTool);
    await writeSysfs(join(blockDir(sys, name), 'device/delete'), '1', runTool);
  }
}

/** Rejects with SystemError if the filesystem of a disk is still mounted, by whoever it was. */
async function requireUnmounted(device: string, {mounter}: DiskTools): Promise<void> {
  for (const mount of await mounter.list())
    if (await isMountOf(mount, device))
      throw new SystemError(
        `the disk ${device} cannot be removed: it is mounted at ${JSON.stringify(mount.path)}`,
        {hint: `unmount it with: umount ${shellQuote(mount.path)}`},
      );
}

async function flushMultipath(device: string, runTool: RunTool): Promise<void> {
  const result = await runTool('multipath', ['-f', device], {timeoutMs: TIMEOUT_MS});
  if (result.exitCode === 0) return;
  throw new SystemError(
    `failed to flush multipath device ${device}: ${describeExit(result)}\n${result.output.trim()}`,
    {
      hint:
        result.exitCode === undefined
          ? 'install multipath-tools (Debian) or device-mapper-multipath (RHEL)'
          : `look with "lsblk ${device}" for what uses the device`,
    },
  );
}

/** Writes what is buffered of a disk; a disk that has failed is removed nevertheless (flushDevice). */
async function flushBuffers(device: string, runTool: RunTool): Promise<void> {
  try {
    await runTool('blockdev', ['--flushbufs', device], {timeoutMs: TIMEOUT_MS});
  } catch (error) {
    rethrowUnexpected(error);
  }
}
