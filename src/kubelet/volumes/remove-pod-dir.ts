import {pathSegment} from '../../base/files.js';
import {removeTree} from '../../base/remove-tree.js';
import {podDir, type NodeFacts} from '../container/node.js';
import {systemMounter, unmountBelow, type Mounter} from './mounts.js';

/**
 * Removes a pod's directory with its volumes (kubelet_volumes.go cleanupOrphanedPodDirs). First all that is mounted
 * below it is unmounted; what can't be ends it with an error. Then files are removed, on that one mount only and
 * without following links, so that nothing outside the directory is ever touched. A half-made or half-removed
 * directory is fine, and without one it does nothing. Rejects with SystemError.
 */
export async function removePodDir(
  node: Pick<NodeFacts, 'rootDir'>,
  uid: string,
  mounter: Mounter = systemMounter,
): Promise<void> {
  const directory = podDir(node, pathSegment('pod UID', uid));
  await unmountBelow(directory, mounter);
  await removeTree(directory);
}
