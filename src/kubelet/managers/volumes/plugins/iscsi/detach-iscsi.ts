import {join} from 'node:path';
import {readFile, rm} from 'node:fs/promises';
import {SystemError} from '../../../../../base/errors.js';
import {ifPresent, withFileErrors} from '../../../../../base/fs/files.js';
import type {NodeFacts} from '../../../../contract/node-facts.js';
import type {RunTool} from '../../devices/disk-tools.js';
import {withDiskLock} from '../disks/disk-lock.js';
import {DISK_FILE, diskDir, isSamePlace, listPlaces, type DiskPlace} from '../disks/disk-place.js';
import type {DiskRoots} from '../disks/disk-roots.js';
import {removeDisks} from '../disks/multipath.js';
import type {Mounter} from '../../mounter.js';
import {diskOfPlace, readDisk, type IscsiDisk} from './iscsi-disk.js';
import {readSessions, sessionOf, type IscsiSession} from './iscsi-sessions.js';
import {iscsiadm, unlessMissing} from './iscsiadm.js';

/** What detaching needs of the node. */
export interface DetachTools {
  readonly node: Pick<NodeFacts, 'rootDir'>;
  readonly mounter: Pick<Mounter, 'list'>;
  readonly runTool: RunTool;
  readonly roots: DiskRoots;
}

/**
 * Removes a disk that nothing uses from the node, and logs out of its target unless other volumes need the sessions (DetachDisk,
 * DetachBlockISCSIDisk). The filesystem in its directory is not mounted. Rejects with SystemError; it can be repeated then.
 */
export async function detachIscsi(place: DiskPlace, tools: DetachTools): Promise<void> {
  const file = join(diskDir(tools.node, place), DISK_FILE);
  const text = await withFileErrors('reading', file, () => ifPresent(() => readFile(file, 'utf8')));
  const disk = readDisk(text ?? '', place) ?? diskOfPlace(place);
  if (disk === undefined) return;
  await withTargetLock(tools.node, disk, undefined, async () => {
    await detach(disk, place, tools);
    await withFileErrors('removing', file, () => rm(file, {force: true}));
  });
}

/** Runs `work` while no other volume logs in to the target of a disk, or out of it. Rejects with the signal's reason. */
export async function withTargetLock<T>(
  node: Pick<NodeFacts, 'rootDir'>,
  {iqn}: Pick<IscsiDisk, 'iqn'>,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  return await withDiskLock(node, `iscsi target ${iqn}`, signal, work);
}

async function detach(disk: IscsiDisk, place: DiskPlace, tools: DetachTools): Promise<void> {
  const {node, mounter, runTool, roots} = tools;
  const others = (await listPlaces(node, 'iscsi'))
    .filter((other) => !isSamePlace(other, place))
    .flatMap((other) => diskOfPlace(other) ?? [])
    .filter(({iqn}) => iqn === disk.iqn);
  const sessions = await readSessions(disk.iqn, roots.sys);
  if (others.every(({lun}) => lun !== disk.lun)) {
    const names = sessions.flatMap(({disks}) => disks.get(disk.lun) ?? []);
    await removeDisks(names, {runTool, mounter, sys: roots.sys});
  }
  const portals = portalsToLeave(disk, others, sessions);
  const options = {runTool, hasSession: sessions.length > 0};
  for (const portal of portals) await logOut(disk, portal, options);
  const isOwnInterface = disk.initiatorName !== '' && disk.interface === `${disk.portals[0]}:${disk.volume}`;
  if (isOwnInterface && portals.length === disk.portals.length)
    await unlessMissing(iscsiadm(['-m', 'iface', '-I', disk.interface, '-o', 'delete'], {runTool}), options);
}

/**
 * Returns the portals of a disk whose sessions no other volume needs. Each session is left that has the disk of another volume;
 * a kubelet only compares the first portals, and can take the sessions of others away.
 */
export function portalsToLeave(
  {portals, lun}: Pick<IscsiDisk, 'portals' | 'lun'>,
  others: readonly Pick<IscsiDisk, 'portals' | 'lun'>[],
  sessions: readonly IscsiSession[],
): readonly string[] {
  return portals.filter((portal) => {
    if (others.some((other) => other.portals.includes(portal))) return false;
    const disks = sessionOf(sessions, portal)?.disks ?? new Map<number, string>();
    return !others.some((other) => other.lun === lun || disks.has(other.lun));
  });
}

async function logOut(
  disk: IscsiDisk,
  portal: string,
  {runTool, hasSession}: {readonly runTool: RunTool; readonly hasSession: boolean},
): Promise<void> {
  const node = ['-m', 'node', '-p', portal, '-T', disk.iqn];
  const own = ['-I', disk.interface];
  try {
    await unlessMissing(iscsiadm([...node, '--logout', ...own], {runTool}), {hasSession});
    await unlessMissing(iscsiadm([...node, '-o', 'delete', ...own], {runTool}), {hasSession});
  } catch (cause) {
    if (!(cause instanceof SystemError)) throw cause;
    throw new SystemError(
      `iscsi: failed to log out of the target ${disk.iqn} at ${portal}: ${cause.message}`,
      {cause, hint: cause.hint},
    );
  }
}
