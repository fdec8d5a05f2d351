import {basename, dirname} from 'node:path';
import {removeAbandonedFiles} from '../../../../../base/fs/atomic-write.js';
import {listNames} from '../../../../../base/fs/files.js';
import type {NodeFacts} from '../../../../contract/node-facts.js';
import {deviceMap, podDevicesDir} from '../../block/block-paths.js';
import type {LoopDevices} from '../../block/loop-devices.js';
import {unlinkDevice, unmapDevice} from '../../block/map-device.js';
import {removeEmpty} from '../../devices/device-mounts.js';
import type {RunTool} from '../../devices/disk-tools.js';
import {unmountBelow, type Mounter} from '../../mounter.js';
import {
  diskDir,
  DISK_KINDS,
  listMapUsers,
  podDirectoryOf,
  type DiskKind,
  type DiskPlace,
} from './disk-place.js';
import type {DiskRoots} from './disk-roots.js';
import {withPlaceLock} from './disk-lock.js';
import {listDiskUsers} from './pod-disks.js';

/** What releasing disks needs of the node. */
export interface ReleaseTools {
  readonly node: Pick<NodeFacts, 'rootDir'>;
  readonly mounter: Mounter;
  readonly loops: LoopDevices;
  readonly runTool: RunTool;
  readonly roots: DiskRoots;
  /** Removes disks of a kind that nothing uses from the node. Rejects with SystemError. */
  readonly detach: Readonly<Record<DiskKind, (place: DiskPlace, tools: ReleaseTools) => Promise<void>>>;
}

/**
 * Releases the disks of a pod whose volumes are unmounted: removes the maps of their devices for the pod, and unmounts and detaches
 * those that no other pod uses (UnmountDevice, TearDownDevice). Then removes the links to devices. Rejects with SystemError; it can
 * be repeated then.
 */
export async function releaseDisks(
  uid: string,
  places: readonly DiskPlace[],
  tools: ReleaseTools,
): Promise<void> {
  for (const place of places)
    await withPlaceLock(tools, place, undefined, async () => {
      await releaseDisk(uid, place, tools);
    });
  for (const kind of DISK_KINDS) {
    const directory = podDevicesDir(tools.node, uid, podDirectoryOf(kind));
    for (const name of await listNames(directory)) await unlinkDevice({linkPath: `${directory}/${name}`});
  }
}

async function releaseDisk(uid: string, place: DiskPlace, tools: ReleaseTools): Promise<void> {
  const {node, mounter} = tools;
  const directory = diskDir(node, place);
  // Does not look at the mount itself, which fails if its disk is broken.
  if (!(await listNames(dirname(directory))).includes(basename(directory))) return;
  if (place.isBlock) {
    const plugin = podDirectoryOf(place.kind);
    await unmapDevice(deviceMap(node, {globalDir: directory, plugin, uid, name: 'unused'}), tools);
    if ((await listMapUsers(directory)).length > 0) return;
  } else {
    if ((await listDiskUsers(node, place, mounter)).length > 0) return;
    await unmountBelow(directory, mounter, (_mount, below) => below === '');
  }
  await tools.detach[place.kind](place, tools);
  await removeAbandonedFiles(directory);
  await removeEmpty(directory);
}
