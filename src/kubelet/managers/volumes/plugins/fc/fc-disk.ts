import type {FCVolumeSource} from '../../../../../api/types/v1-attached-volumes.js';
import {SystemError} from '../../../../../base/errors.js';
import type {PossibleNames} from '../../../../contract/volumes/csi-volumes.js';
import {createPlace, type DiskPlace} from '../disks/disk-place.js';

/** A Fibre Channel disk: a LUN of targets, or a disk with world wide identifiers. */
export type FcDisk =
  | {readonly wwns: readonly string[]; readonly lun: number}
  | {readonly wwids: readonly string[]};

/** Returns the disk of a volume (getWwnsLunWwids). Throws SystemError if its source names none. */
export function fcDiskOf({targetWWNs = [], lun, wwids = []}: FCVolumeSource): FcDisk {
  if (targetWWNs.length > 0 && lun !== undefined) return {wwns: targetWWNs, lun};
  // Links have an underscore in place of a space.
  if (wwids.length > 0) return {wwids: wwids.map((wwid) => wwid.replaceAll(' ', '_'))};
  throw new SystemError('fc: no fc disk information found. failed to make a new mounter', {
    hint: 'set targetWWNs and lun of the volume, or its wwids',
  });
}

/** Returns the place of a disk (MakeGlobalPDName, MakeGlobalVDPDName). Throws SystemError if it cannot have one. */
export function fcPlace(disk: FcDisk, isBlock: boolean): DiskPlace {
  const name = 'wwns' in disk ? `${disk.wwns.join('-')}-lun-${disk.lun}` : disk.wwids.join('-');
  return createPlace('fc', isBlock, [name]);
}

/** Returns the disk of a place (parsePDName); undefined if it is not one of a Fibre Channel disk. */
export function fcDiskOfPlace({names: [name = '']}: DiskPlace): FcDisk | undefined {
  const [, wwns, lun] = /^(?:(.+)-)?lun-(\d+)$/.exec(name) ?? [];
  if (lun === undefined) return {wwids: name.split('-')};
  return wwns === undefined ? undefined : {wwns: wwns.split('-'), lun: Number(lun)};
}

/** Returns the name of a volume in the status of the node, with Go's notation of a list (GetVolumeName). */
export function fcUniqueName({targetWWNs = [], lun, wwids = []}: FCVolumeSource): string {
  const name = targetWWNs.length > 0 && lun !== undefined ? `${list(targetWWNs)}:${lun}` : list(wwids);
  return `kubernetes.io/fc/${name}`;
}

function list(texts: readonly string[]): string {
  return `[${texts.join(' ')}]`;
}

/** Returns the names that the volumes at a place can have: an underscore of an identifier can stand for a space. */
export function fcNamesOfPlace(place: DiskPlace): PossibleNames {
  const disk = fcDiskOfPlace(place);
  if (disk === undefined) return [];
  if ('wwns' in disk) return [fcUniqueName({targetWWNs: disk.wwns, lun: disk.lun})];
  const written = [disk.wwids, disk.wwids.map((wwid) => wwid.replaceAll('_', ' '))];
  return [...new Set(written.map((wwids) => fcUniqueName({wwids})))];
}

/** Directories of links to disks. */
export type LinkDirectory = 'by-path' | 'by-id';

/** Returns the directory of the links to a disk. */
export function linkDirectoryOf(disk: FcDisk): LinkDirectory {
  return 'wwns' in disk ? 'by-path' : 'by-id';
}

/** Returns the names of the links to a disk among those in its directory, in the order of the disk's identifiers (findDisk). */
export function findFcLinks(names: readonly string[], disk: FcDisk): readonly string[] {
  if ('wwids' in disk)
    return disk.wwids.map((wwid) => `scsi-${wwid}`).filter((wanted) => names.includes(wanted));
  const sorted = names.toSorted();
  return disk.wwns.flatMap((wwn) => {
    const wanted = `fc-0x${wwn}-lun-${disk.lun}`;
    const isLink = (name: string): boolean =>
      name === wanted || (name.startsWith('pci-') && name.endsWith(`-${wanted}`));
    return sorted.filter(isLink);
  });
}

/** Reports whether two volumes can be of one disk. */
export function mayBeSameDisk(a: FcDisk, b: FcDisk): boolean {
  if ('wwids' in a && 'wwids' in b) return a.wwids.some((wwid) => b.wwids.includes(wwid));
  if ('wwns' in a && 'wwns' in b) return a.lun === b.lun && a.wwns.some((wwn) => b.wwns.includes(wwn));
  return false;
}
