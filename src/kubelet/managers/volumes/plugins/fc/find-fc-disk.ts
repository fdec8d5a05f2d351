import {join} from 'node:path';
import {SystemError} from '../../../../../base/errors.js';
import {listNames} from '../../../../../base/fs/files.js';
import type {NodeFacts} from '../../../../contract/node-facts.js';
import type {RunTool} from '../../devices/disk-tools.js';
import {withDiskLock} from '../disks/disk-lock.js';
import {isSamePlace, listPlaces, type DiskPlace} from '../disks/disk-place.js';
import type {DiskRoots} from '../disks/disk-roots.js';
import {deviceNameOf, findMultipath, removeDisks} from '../disks/multipath.js';
import {listSysfs, writeSysfs} from '../disks/sysfs.js';
import type {Mounter} from '../../mounter.js';
import {fcDiskOfPlace, findFcLinks, linkDirectoryOf, mayBeSameDisk, type FcDisk} from './fc-disk.js';

/** What finding and removing disks needs of the node. */
export interface FcTools {
  readonly node: Pick<NodeFacts, 'rootDir'>;
  readonly mounter: Pick<Mounter, 'list'>;
  readonly runTool: RunTool;
  readonly roots: DiskRoots;
}

/** Runs `work` while no other volume looks for a disk or removes one. Rejects with the signal's reason. */
async function withFcLock<T>(
  {node}: FcTools,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  return await withDiskLock(node, 'fc hosts', signal, work);
}

/**
 * Returns the path of a disk in /dev, that of the multipath device if there is one. Unless that is known already, all SCSI hosts
 * are asked for their disks (searchDisk). Rejects with SystemError, and with the signal's reason.
 */
export async function findFcDisk(disk: FcDisk, tools: FcTools, signal: AbortSignal): Promise<string> {
  return await withFcLock(tools, signal, async () => {
    const before = await search(disk, tools);
    if (before.multipath !== undefined) return `/dev/${before.multipath}`;
    await rescan(tools, signal);
    const {multipath, names} = await search(disk, tools);
    const name = multipath ?? names[0];
    if (name !== undefined) return `/dev/${name}`;
    const directory = join(tools.roots.links, linkDirectoryOf(disk));
    throw new SystemError('no fc disk found', {
      hint: `check the zoning and the identifiers of the volume: ${JSON.stringify(directory)} has no link to the disk after a scan of all hosts`,
    });
  });
}

/** Paths of a disk, as far as the node knows them. */
interface FoundPaths {
  /** Names of disks in /dev. */
  readonly names: readonly string[];
  readonly multipath: string | undefined;
}

async function search(disk: FcDisk, {roots}: FcTools): Promise<FoundPaths> {
  const directory = join(roots.links, linkDirectoryOf(disk));
  const names = new Set<string>();
  for (const link of findFcLinks(await listNames(directory), disk)) {
    const name = await deviceNameOf(join(directory, link));
    if (name !== undefined) names.add(name);
  }
  for (const name of names) {
    const multipath = await findMultipath(name, roots.sys);
    if (multipath !== undefined) return {names: [...names], multipath};
  }
  return {names: [...names], multipath: undefined};
}

/** Has all SCSI hosts look for disks (scsiHostRescan). */
async function rescan({roots, runTool}: FcTools, signal: AbortSignal): Promise<void> {
  const hosts = join(roots.sys, 'class/scsi_host');
  for (const host of (await listSysfs(hosts)).filter((name) => /^host\d+$/.test(name))) {
    signal.throwIfAborted();
    await writeSysfs(join(hosts, host, 'scan'), '- - -', runTool);
  }
}

/**
 * Removes a disk that nothing uses from the node, and all its paths, unless a volume at another place has it (DetachDisk,
 * DetachBlockFCDisk). The filesystem in its directory is not mounted. Rejects with SystemError; it can be repeated then.
 */
export async function detachFc(place: DiskPlace, tools: FcTools): Promise<void> {
  const disk = fcDiskOfPlace(place);
  if (disk === undefined) return;
  await withFcLock(tools, undefined, async () => {
    for (const other of await listPlaces(tools.node, 'fc')) {
      const otherDisk = fcDiskOfPlace(other);
      if (!isSamePlace(other, place) && otherDisk !== undefined && mayBeSameDisk(disk, otherDisk)) return;
    }
    const {names} = await search(disk, tools);
    const {mounter, runTool, roots} = tools;
    await removeDisks(names, {mounter, runTool, sys: roots.sys});
  });
}
