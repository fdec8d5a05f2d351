import {lstat, rmdir} from 'node:fs/promises';
import {dirname} from 'node:path';
import {hasErrno, SystemError} from '../../../../base/errors.js';
import {ifPresent, withFileErrors} from '../../../../base/fs/files.js';
import {shellQuote} from '../../../../base/shell-quote.js';
import {findMountAt, isMountPoint, type Mounter} from '../mounter.js';
import {removeVolumeData} from './volume-data.js';

/**
 * Removes an unmounted directory of a volume, with the file of its identity and the directory of both (removeMountDir). Rejects
 * with SystemError if it is still mounted, or has files: they are data of the volume.
 */
export async function removeMountDirectory(path: string, mounter: Mounter): Promise<void> {
  if (await isMountPoint(path, mounter))
    throw new SystemError(`${JSON.stringify(path)} is still mounted after its CSI driver has unmounted it`, {
      hint: `look into the log of the driver, or unmount it with: umount ${shellQuote(path)}`,
    });
  await removeDirectory(path);
  const parent = dirname(path);
  await removeVolumeData(parent);
  await removeDirectory(parent);
}

async function removeDirectory(path: string): Promise<void> {
  await withFileErrors('removing', path, () => ifPresent(() => rmdir(path)));
}

/** Requires that a driver has made a directory, not a link that leads elsewhere. Rejects with SystemError. */
export async function requireDirectory(path: string): Promise<void> {
  const stats = await withFileErrors('reading', path, () => ifPresent(() => lstat(path)));
  if (stats?.isDirectory() === true) return;
  throw new SystemError(`the CSI driver has not made the directory ${JSON.stringify(path)}`, {
    hint: "look into the driver's log",
  });
}

/**
 * Returns a path below a directory at which the filesystem of another mount is mounted too; undefined if there is none
 * (GetDeviceMountRefs).
 */
export async function findMountReference(
  path: string,
  directory: string,
  mounter: Mounter,
): Promise<string | undefined> {
  const mount = await findMountAt(path, mounter);
  if (mount === undefined) return undefined;
  const root = mount.root === '/' ? '/' : `${mount.root}/`;
  const isReference = (other: typeof mount): boolean =>
    other.device === mount.device && `${other.root}/`.startsWith(root) && other.path !== mount.path;
  const mounts = await mounter.list();
  return mounts.find((other) => isReference(other) && other.path.startsWith(`${directory}/`))?.path;
}

/** Ignores that a directory does not exist or is in use. */
export async function removeIfEmpty(path: string): Promise<void> {
  await withFileErrors('removing', path, async () => {
    try {
      await rmdir(path);
    } catch (error) {
      if (!hasErrno(error, 'ENOENT', 'ENOTEMPTY', 'EBUSY')) throw error;
    }
  });
}
