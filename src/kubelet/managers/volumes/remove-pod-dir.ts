import {join} from 'node:path';
import {listNames} from '../../../base/fs/files.js';
import {removeTree} from '../../../base/fs/remove-tree.js';
import type {MountPoint} from '../../../base/fs/mount-info.js';
import {podDir} from '../../contract/node-facts.js';
import type {CsiVolumes} from '../../contract/volumes/csi-volumes.js';
import {listMountedVolumes} from './attached-volumes.js';
import {POD_DEVICES} from './block/block-paths.js';
import {unmapLocalDevices} from './block/local-device.js';
import {systemLoopDevices, type LoopDevices} from './block/loop-devices.js';
import {LOCAL_VOLUMES, releaseDevice} from './devices/device-mounts.js';
import {runDiskTool, type RunTool} from './devices/disk-tools.js';
import {DISK_KINDS, podDirectoryOf} from './plugins/disks/disk-place.js';
import {SYSTEM_DISK_ROOTS, type DiskRoots} from './plugins/disks/disk-roots.js';
import {findPodDisks} from './plugins/disks/pod-disks.js';
import {releaseDisks} from './plugins/disks/release-disks.js';
import {detachFc} from './plugins/fc/find-fc-disk.js';
import {systemFlexDrivers, type FlexDrivers} from './plugins/flex/flex-drivers.js';
import type {FlexNode} from './plugins/flex/unmount-flex.js';
import {detachIscsi} from './plugins/iscsi/detach-iscsi.js';
import {listMountsBelow, systemMounter, unmountBelow, type IsOwnMount, type Mounter} from './mounter.js';
import {SUB_PATHS, unmountDriverVolumes} from './unmount-driver-volumes.js';

/** Options to unmount the volumes of a pod. */
export interface UnmountOptions {
  readonly mounter?: Mounter;
  readonly loops?: LoopDevices;
  readonly runTool?: RunTool;
  /** Where disks appear on the node. */
  readonly roots?: DiskRoots;
  /** Drivers of FlexVolumes. */
  readonly flex?: FlexDrivers;
  /** Volumes of CSI drivers; without them, a pod that has such a volume cannot be unmounted. */
  readonly csi?: CsiVolumes | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Removes a pod's directory with its volumes, if it exists (kubelet_volumes.go cleanupOrphanedPodDirs). First unmounts
 * kcri's mounts; if that fails, or if there is another mount, nothing is removed. Then removes the files on that one
 * mount without following links, so that nothing outside the directory is affected. Rejects with SystemError.
 */
export async function removePodDir(node: FlexNode, uid: string, options: UnmountOptions = {}): Promise<void> {
  await removeTree(await unmountPod(node, uid, options));
}

/** Removes only the volumes of a pod, like removePodDir; other files in its directory stay. */
export async function removePodVolumes(
  node: FlexNode,
  uid: string,
  options: UnmountOptions = {},
): Promise<void> {
  const directory = await unmountPod(node, uid, options);
  for (const name of [SUB_PATHS, 'volumes', POD_DEVICES]) await removeTree(join(directory, name));
}

/** Unmounts everything in a pod's directory, and devices that no other pod uses. Returns the path of the directory. */
async function unmountPod(node: FlexNode, uid: string, options: UnmountOptions): Promise<string> {
  const {mounter = systemMounter, loops = systemLoopDevices, csi, signal} = options;
  const {runTool = runDiskTool, roots = SYSTEM_DISK_ROOTS, flex = systemFlexDrivers} = options;
  const directory = podDir(node, uid);
  await detachBindMounts(directory, mounter);
  await unmountDriverVolumes(uid, {node, mounter, csi, flex, isPodMount, signal});
  const disks = await findPodDisks(node, uid, mounter);
  await unmountBelow(directory, mounter, isPodMount);
  // The directories of the volumes remain until the devices are released, so that a killed removal can be repeated.
  for (const name of await listNames(join(directory, 'volumes', LOCAL_VOLUMES)))
    await releaseDevice(node, name, mounter);
  await unmapLocalDevices(node, uid, {mounter, loops});
  const detach = {iscsi: detachIscsi, fc: detachFc};
  await releaseDisks(uid, disks, {node, mounter, loops, runTool, roots, detach});
  await csi?.attachments?.release(uid, async () => listMountedVolumes(node, mounter));
  return directory;
}

/**
 * Makes sub-path mounts and local volumes private, so that unmounting below one does not unmount in the volume as well.
 * A bind mount that has received propagated mounts is detached as a whole, because a container of another pod could
 * replace path components below it.
 */
async function detachBindMounts(directory: string, mounter: Mounter): Promise<void> {
  const mounts = await listMountsBelow(directory, mounter);
  for (const {mount, below} of mounts) {
    if (!BIND_MOUNT.test(below)) continue;
    const received = mounts.filter((other) => other.below.startsWith(`${below}/`));
    const mustDetach = received.length > 0 && received.every((other) => isPodMount(other.mount, other.below));
    if (mount.isShared || mustDetach) await mounter.makePrivate(mount.path);
    if (mustDetach) await mounter.detach(mount.path);
  }
}

/** `volume-subpaths/<volume>/<container>/<index>`, or a volume that is bound. */
const BIND_MOUNT =
  /^(?:volume-subpaths\/[^/]+\/[^/]+\/\d+|volumes\/kubernetes\.io~(?:local-volume|iscsi|fc)\/[^/]+)$/;

/**
 * Reports whether kcri created a mount in a pod's directory: the volumes directory bound to itself, an in-memory or NFS
 * volume, or a bound volume or sub-path with the mounts propagated to it. Decides by path, not by the pod, whose record may be damaged.
 */
export const isPodMount: IsOwnMount = (mount, below) => {
  const [folder = '', ...names] = below.split('/');
  if (below === 'volumes') return mount.root.endsWith(VOLUMES.exec(mount.path)?.[0] ?? '\0');
  if (folder === 'volumes') return isVolume(mount, names);
  const [, , index = '', ...deeper] = names;
  return folder === 'volume-subpaths' && /^\d+$/.test(index) && (deeper.length === 0 || mount.isSlave);
};

function isVolume(mount: MountPoint, [plugin = '', name, ...deeper]: readonly string[]): boolean {
  const {fileSystem, root, isSlave, isShared} = mount;
  if (name === undefined) return false;
  if (BOUND_VOLUMES.has(plugin)) return deeper.length === 0 || isSlave || isShared;
  // The file systems of a server are mounted below the volume when they are entered.
  if (plugin === 'kubernetes.io~nfs') return fileSystem.startsWith('nfs');
  return (
    plugin.startsWith('kubernetes.io~') && deeper.length === 0 && IN_MEMORY.has(fileSystem) && root === '/'
  );
}

/** Plugins whose volumes are bound for each pod. */
const BOUND_VOLUMES: ReadonlySet<string> = new Set([LOCAL_VOLUMES, ...DISK_KINDS.map(podDirectoryOf)]);

/** Path of a volumes directory that is bound to itself. */
const VOLUMES = /\/pods\/[^/]+\/volumes$/;

const IN_MEMORY: ReadonlySet<string> = new Set(['tmpfs', 'hugetlbfs']);
