import {readFile, realpath, stat} from 'node:fs/promises';
import {deviceNumbers} from '../../../../base/fs/device-numbers.js';
import {ifPresent, withFileErrors} from '../../../../base/fs/files.js';
import type {MountPoint} from '../../../../base/fs/mount-info.js';

/**
 * Returns the real path of the block device at a path; undefined if something else is there. All work on the device uses
 * this path, so that a link that changes cannot lead to another one. Rejects with SystemError.
 */
export async function findBlockDevice(path: string): Promise<string | undefined> {
  return await withFileErrors('reading', path, async () => {
    const real = await realpath(path);
    return (await stat(real)).isBlockDevice() ? real : undefined;
  });
}

/** Unit of the size of a device in sysfs, whatever its sectors are. */
const SECTOR_BYTES = 512n;

/** Returns the size of the block device at a path, in bytes. Rejects with the system's error. */
export async function readDeviceSize(path: string): Promise<bigint> {
  const {rdev} = await stat(path, {bigint: true});
  const sectors = await readFile(`/sys/dev/block/${deviceNumbers(rdev)}/size`, 'utf8');
  return BigInt(sectors.trim()) * SECTOR_BYTES;
}

/** Reports whether a mount is of this device, which may have other names, such as those of /dev/mapper. */
export async function isMountOf({source}: MountPoint, device: string): Promise<boolean> {
  if (source === device) return true;
  // Other sources may be on a server that does not answer.
  if (!source.startsWith('/dev/')) return false;
  const [mounted, wanted] = [await deviceNumber(source), await deviceNumber(device)];
  return mounted !== undefined && mounted === wanted;
}

/** Returns the number of a block device; undefined if it does not exist or is something else. */
async function deviceNumber(path: string): Promise<number | undefined> {
  const stats = await withFileErrors('reading', path, () => ifPresent(() => stat(path)));
  return stats?.isBlockDevice() === true ? stats.rdev : undefined;
}
