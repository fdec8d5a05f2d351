import {join} from 'node:path';
import {pathSegment} from '../../base/files.js';
import {removeTree} from '../../base/remove-tree.js';
import {podDir, type NodeFacts} from '../container/node.js';
import {
  mountsBelow,
  systemMounter,
  unmountBelow,
  type IsOwnMount,
  type MountPoint,
  type Mounter,
} from './mounts.js';

/**
 * Removes a pod's directory with its volumes (kubelet_volumes.go cleanupOrphanedPodDirs). First what kcri has mounted
 * below it is unmounted; when that can't be done, or when somebody else has mounted something there, it ends with an
 * error and nothing is removed. Then files are removed, on that one mount only and without following links, so that
 * nothing outside the directory is ever touched. A half-made or half-removed directory is fine, and without one it does
 * nothing. Rejects with SystemError.
 */
export async function removePodDir(
  node: Pick<NodeFacts, 'rootDir'>,
  uid: string,
  mounter: Mounter = systemMounter,
): Promise<void> {
  await removeTree(await unmountPod(node, uid, mounter));
}

/** Removes a pod's volumes alone, in the same way: what its containers and the kubelet wrote beside them stays. */
export async function removePodVolumes(
  node: Pick<NodeFacts, 'rootDir'>,
  uid: string,
  mounter: Mounter = systemMounter,
): Promise<void> {
  const directory = await unmountPod(node, uid, mounter);
  for (const name of ['volume-subpaths', 'volumes']) await removeTree(join(directory, name));
}

/** Gives the pod's directory, below which nothing is mounted any more. */
async function unmountPod(node: Pick<NodeFacts, 'rootDir'>, uid: string, mounter: Mounter): Promise<string> {
  const directory = podDir(node, pathSegment('pod UID', uid));
  await separateParts(directory, mounter);
  await unmountBelow(directory, mounter, isPodMount);
  return directory;
}

/**
 * What is unmounted below a part of a volume, by whomever, is not to be unmounted in the volume as well. What a part has
 * received goes with it: on the way to a mount in there a container of another pod may exchange names.
 */
async function separateParts(directory: string, mounter: Mounter): Promise<void> {
  const mounts = await mountsBelow(directory, mounter);
  for (const {mount, below} of mounts) {
    if (!PART.test(below)) continue;
    const received = mounts.filter((other) => other.below.startsWith(`${below}/`));
    const goesWhole = received.length > 0 && received.every((other) => isPodMount(other.mount, other.below));
    if (mount.shared || goesWhole) await mounter.makePrivate(mount.path);
    if (goesWhole) await mounter.detach(mount.path);
  }
}

/** `volume-subpaths/<volume>/<container>/<index>` */
const PART = /^volume-subpaths\/[^/]+\/[^/]+\/\d+$/;

/**
 * True for what kcri mounts below a pod's directory: its volumes on themselves, file systems in memory as volumes, and
 * parts of volumes, with what came to those from the volume by itself. The place tells, not the Pod: its record may be damaged.
 */
export const isPodMount: IsOwnMount = (mount, below) => {
  const [folder = '', ...names] = below.split('/');
  if (below === 'volumes') return mount.root.endsWith(VOLUMES.exec(mount.path)?.[0] ?? '\0');
  if (folder === 'volumes') return isMemory(mount, names);
  const [, , index = '', ...deeper] = names;
  return folder === 'volume-subpaths' && /^\d+$/.test(index) && (deeper.length === 0 || mount.received);
};

function isMemory({fileSystem, root}: MountPoint, [plugin = '', ...names]: readonly string[]): boolean {
  return (
    plugin.startsWith('kubernetes.io~') && names.length === 1 && IN_MEMORY.has(fileSystem) && root === '/'
  );
}

/** Of the volumes that are bound on themselves: no other directory has a pod's UID above it. */
const VOLUMES = /\/pods\/[^/]+\/volumes$/;

const IN_MEMORY: ReadonlySet<string> = new Set(['tmpfs', 'hugetlbfs']);
