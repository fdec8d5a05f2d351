import {readFile, statfs} from 'node:fs/promises';
import {isSystemCallError} from '../../../../base/errors.js';
import {
  readDeviceNumbers,
  readDiskActivities,
  type DiskActivities,
  type DiskActivity,
} from './disk-activity.js';
import {isOnDevice} from '../../../../base/fs/file-system-kinds.js';
import {parseMountInfo, type MountPoint} from '../../../../base/fs/mount-info.js';

/** Usage of a file system on a block device of the node (cAdvisor FsStats). */
export interface NodeFilesystem {
  /** Path of the device, such as /dev/sda1. */
  readonly device: string;
  readonly limitBytes: bigint;
  readonly usedBytes: bigint;
  readonly inodes: bigint;
  readonly inodesFree: bigint;
  /** Activity of the device; undefined if the kernel does not report it. */
  readonly activity?: DiskActivity | undefined;
}

/** Reads the file systems on the node's devices, each once. Rejects with errors that are not the system's. */
export async function readNodeFilesystems(): Promise<readonly NodeFilesystem[]> {
  const mounts = parseMountInfo(await readFile('/proc/self/mountinfo', 'utf8'));
  const activities = await readDiskActivities();
  const read = await Promise.all(localFilesystems(mounts).map((mount) => readFilesystem(mount, activities)));
  return read.filter((each) => each !== undefined);
}

/**
 * Returns one mount of each file system on a device, the first one of the device that is a directory of it or its root. Those of
 * servers are not read, since the server may not answer.
 */
export function localFilesystems(mounts: readonly MountPoint[]): readonly MountPoint[] {
  const byDevice = new Map<string, MountPoint>();
  for (const mount of mounts) {
    if (!isOnDevice(mount.fileSystem) || !mount.source.startsWith('/dev/')) continue;
    const known = byDevice.get(mount.source);
    if (known === undefined || (known.root !== '/' && mount.root === '/')) byDevice.set(mount.source, mount);
  }
  return [...byDevice.values()];
}

async function readFilesystem(
  {source: device, path}: MountPoint,
  activities: DiskActivities,
): Promise<NodeFilesystem | undefined> {
  try {
    const {bsize, blocks, bfree, files, ffree} = await statfs(path, {bigint: true});
    return {
      device,
      limitBytes: blocks * bsize,
      usedBytes: (blocks - bfree) * bsize,
      inodes: files,
      inodesFree: ffree,
      activity: activities.get((await readDeviceNumbers(device)) ?? ''),
    };
  } catch (error) {
    if (isSystemCallError(error)) return undefined; // unmounted meanwhile, or hidden by another mount
    throw error;
  }
}
