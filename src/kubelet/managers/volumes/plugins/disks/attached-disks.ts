import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {writeFileAtomicWithoutSync} from '../../../../../base/fs/atomic-write.js';
import {
  ifPresent,
  isPathSegment,
  listDirectoryNames,
  listNames,
  withFileErrors,
} from '../../../../../base/fs/files.js';
import {makeDirectoryPath} from '../../../../../base/fs/make-directory-path.js';
import {podDir, type NodeFacts} from '../../../../contract/node-facts.js';
import type {PluginAttachment} from '../../../../contract/volumes/csi-volumes.js';
import {podDevicesDir} from '../../block/block-paths.js';
import {listMountsBelow, type Mounter} from '../../mounter.js';
import {
  diskDir,
  DISK_KINDS,
  kindDir,
  listMapUsers,
  listPlaces,
  placeText,
  podDirectoryOf,
  type DiskPlace,
} from './disk-place.js';

type RootFacts = Pick<NodeFacts, 'rootDir'>;

/** File with the name of a volume in the status of the node, in the metadata directory of the volume. */
const NAME_FILE = 'unique-name';

/**
 * Records the name of a pod's volume in the status of the node, which does not follow from the place of its disk, so that the next
 * process reports it again. Rejects with SystemError.
 */
export async function recordUniqueName(directory: string, uniqueName: string): Promise<void> {
  await makeDirectoryPath(directory, 0o750);
  await writeFileAtomicWithoutSync(join(directory, NAME_FILE), uniqueName, 0o600);
}

/** Returns the volumes of pods that have a directory or a device for them. Rejects with SystemError. */
export async function listAttachedDisks(node: RootFacts): Promise<readonly PluginAttachment[]> {
  const found: PluginAttachment[] = [];
  for (const podUid of (await listDirectoryNames(join(node.rootDir, 'pods'))).filter(isPathSegment))
    for (const plugin of DISK_KINDS.map(podDirectoryOf)) {
      const directory = podDir(node, podUid);
      const mounted = await listNames(join(directory, 'volumes', plugin));
      const mapped = await listNames(podDevicesDir(node, podUid, plugin));
      for (const name of [...mounted, ...mapped].filter(isPathSegment)) {
        const path = join(directory, 'plugins', plugin, name, NAME_FILE);
        const read = async (): Promise<string | undefined> => await ifPresent(() => readFile(path, 'utf8'));
        const uniqueName = await withFileErrors('reading', path, read);
        // A kubelet writes none; its volume is found by its place.
        if (uniqueName !== undefined && uniqueName !== '') found.push({uniqueName, podUid});
      }
    }
  return found;
}

/** Returns the places whose disk is mounted for all pods, or mapped for one. Rejects with SystemError. */
export async function listMountedDisks(node: RootFacts, mounter: Mounter): Promise<readonly DiskPlace[]> {
  const found: DiskPlace[] = [];
  for (const kind of DISK_KINDS) {
    const places = await listPlaces(node, kind);
    if (places.length === 0) continue;
    const mounted = new Set((await listMountsBelow(kindDir(node, kind), mounter)).map(({below}) => below));
    for (const place of places) {
      const isUsed = place.isBlock
        ? (await listMapUsers(diskDir(node, place))).length > 0
        : mounted.has(placeText(place));
      if (isUsed) found.push(place);
    }
  }
  return found;
}
