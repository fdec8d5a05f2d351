import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {
  ifPresent,
  isPathSegment,
  listNames,
  pathExists,
  withFileErrors,
} from '../../../../../base/fs/files.js';
import {writeFileAtomicWithoutSync} from '../../../../../base/fs/atomic-write.js';
import {makeDirectoryPath} from '../../../../../base/fs/make-directory-path.js';
import {podDir, type NodeFacts} from '../../../../contract/node-facts.js';
import {podDevicesDir} from '../../block/block-paths.js';
import {findMountAt, listMountsBelow, type Mounter} from '../../mounter.js';
import {
  diskDir,
  DISK_KINDS,
  isSamePlace,
  listPlaces,
  parsePlace,
  placeText,
  podDirectoryOf,
  type DiskKind,
  type DiskPlace,
} from './disk-place.js';

type RootFacts = Pick<NodeFacts, 'rootDir'>;

/** File with the places of a volume's disks, in the metadata directory of the volume. */
const PLACES_FILE = 'disks';

/**
 * Records where the disk of a pod's volume will be, before anything is done to it: whoever removes the pod releases the disk then,
 * also after a kill. Rejects with SystemError.
 */
export async function recordDisk(directory: string, place: DiskPlace): Promise<void> {
  const recorded = await readDisks(directory, place.kind);
  if (recorded.some((each) => isSamePlace(each, place))) return;
  await makeDirectoryPath(directory, 0o750);
  const lines = [...recorded, place].map((each) => `${placeText(each)}\n`);
  await writeFileAtomicWithoutSync(join(directory, PLACES_FILE), lines.join(''), 0o600);
}

async function readDisks(directory: string, kind: DiskKind): Promise<readonly DiskPlace[]> {
  const path = join(directory, PLACES_FILE);
  const text = await withFileErrors('reading', path, () => ifPresent(() => readFile(path, 'utf8')));
  return (text ?? '').split('\n').flatMap((line) => parsePlace(kind, line) ?? []);
}

/**
 * Returns the disks of a pod's volumes, as recorded, and as the mounts and maps show that a kubelet has made. The latter are
 * recorded, since they are not to be seen anymore when the volumes are unmounted. Rejects with SystemError.
 */
export async function findPodDisks(
  node: RootFacts,
  uid: string,
  mounter: Mounter,
): Promise<readonly DiskPlace[]> {
  const found: DiskPlace[] = [];
  for (const kind of DISK_KINDS) {
    const directory = podDirectoryOf(kind);
    const mounted = await listNames(join(podDir(node, uid), 'volumes', directory));
    const mapped = await listNames(podDevicesDir(node, uid, directory));
    // The directory of a volume that could not be bound is removed.
    const recorded = await listNames(join(podDir(node, uid), 'plugins', directory));
    const names = new Set([...mounted, ...mapped, ...recorded].filter(isPathSegment));
    if (names.size === 0) continue;
    const places = await listPlaces(node, kind);
    for (const name of names) {
      const recordDir = join(podDir(node, uid), 'plugins', directory, name);
      const seen = mounted.includes(name)
        ? await mountedPlaces(node, join(podDir(node, uid), 'volumes', directory, name), places, mounter)
        : await mappedPlaces(node, uid, places);
      for (const place of seen) await recordDisk(recordDir, place);
      found.push(...(await readDisks(recordDir, kind)));
    }
  }
  return found.filter((place, index) => found.findIndex((each) => isSamePlace(each, place)) === index);
}

/** Returns the places at which the device is mounted that is mounted at a path (GetDeviceMountRefs). */
async function mountedPlaces(
  node: RootFacts,
  path: string,
  places: readonly DiskPlace[],
  mounter: Mounter,
): Promise<readonly DiskPlace[]> {
  const mount = await findMountAt(path, mounter);
  if (mount === undefined) return [];
  const found: DiskPlace[] = [];
  for (const place of places.filter(({isBlock}) => !isBlock))
    if ((await findMountAt(diskDir(node, place), mounter))?.device === mount.device) found.push(place);
  return found;
}

/** Returns the places with a map of their device for a pod (FindGlobalMapPathUUIDFromPod). */
async function mappedPlaces(
  node: RootFacts,
  uid: string,
  places: readonly DiskPlace[],
): Promise<readonly DiskPlace[]> {
  const found: DiskPlace[] = [];
  for (const place of places.filter(({isBlock}) => isBlock))
    if (await pathExists(join(diskDir(node, place), uid))) found.push(place);
  return found;
}

/** Returns the UIDs of the pods in which the filesystem is mounted that is mounted at a place. Rejects with SystemError. */
export async function listDiskUsers(
  node: RootFacts,
  place: DiskPlace,
  mounter: Mounter,
): Promise<readonly string[]> {
  const mount = await findMountAt(diskDir(node, place), mounter);
  if (mount === undefined) return [];
  const below = await listMountsBelow(join(node.rootDir, 'pods'), mounter);
  return below
    .filter((each) => each.mount.device === mount.device)
    .flatMap((each) => userOf(each.below, place.kind) ?? []);
}

/** Returns the UID of the pod whose volume is mounted at a path below the directory of pods. */
function userOf(below: string, kind: DiskKind): string | undefined {
  const [uid, volumes, directory, , ...deeper] = below.split('/');
  const isVolume = volumes === 'volumes' && directory === podDirectoryOf(kind) && deeper.length === 0;
  return isVolume ? uid : undefined;
}
