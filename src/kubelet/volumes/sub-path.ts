import type {BigIntStats} from 'node:fs';
import {lstat, mkdir, realpath, rmdir, stat, unlink, type FileHandle} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {messageOf, SystemError} from '../../base/errors.js';
import {ifPresent, pathSegment, withFile, withFileErrors} from '../../base/files.js';
import {systemReason} from '../../base/system-reason.js';
import {makeDirectoryPath} from '../../base/make-directory-path.js';
import {openBeneath} from '../../base/open-beneath.js';
import {podDir, type NodeFacts} from '../container/node.js';
import type {SubPathMount} from '../container/pod-filesystem.js';
import {isMountPoint, systemMounter, type BindPropagation, type Mounter} from './mounts.js';

const DIRECTORY_MODE = 0o750;
const FILE_MODE = 0o640;
const PERMISSIONS = 0o7777;

/** Whose parts of volumes they are. */
export interface SubPathOwner {
  readonly podUid: string;
  readonly containerName: string;
}

/** Where the parts of volumes are once they are mounted, by index. Throws SystemError for names that are no file names. */
export function subPathTargets(
  node: Pick<NodeFacts, 'rootDir'>,
  owner: SubPathOwner,
  mounts: readonly SubPathMount[],
): ReadonlyMap<number, string> {
  return new Map(mounts.map((mount) => [mount.index, subPathTarget(node, owner, mount)]));
}

/** Mounts the parts of volumes that a container asks for, in order, and tells where. Rejects as bindSubPath does. */
export async function bindSubPaths(
  node: Pick<NodeFacts, 'rootDir'>,
  owner: SubPathOwner,
  mounts: readonly SubPathMount[],
  mounter: Mounter = systemMounter,
): Promise<ReadonlyMap<number, string>> {
  for (const mount of mounts)
    await bindSubPath({...mount, ...owner}, subPathTarget(node, owner, mount), mounter);
  return subPathTargets(node, owner, mounts);
}

/** `<rootDir>/pods/<uid>/volume-subpaths/<volume>/<container>/<index>`. */
function subPathTarget(
  node: Pick<NodeFacts, 'rootDir'>,
  {podUid, containerName}: SubPathOwner,
  {volumeName, index}: SubPathMount,
): string {
  return join(
    podDir(node, pathSegment('pod UID', podUid)),
    'volume-subpaths',
    pathSegment('volume name', volumeName),
    pathSegment('container name', containerName),
    String(index),
  );
}

/**
 * Mounts a part of a volume at `target`, whatever containers plant in the volume meanwhile (makeMounts, subpath
 * PrepareSafeSubpath): what is missing is made, with the mode of the volume's root; the place is opened without
 * following links out of the volume; and the open place is what is mounted. What is mounted there already is kept, or
 * replaced when it isn't the same any more. Rejects with SystemError in the kubelet's words, whose hint tells more.
 */
async function bindSubPath(
  mount: SubPathMount & SubPathOwner,
  target: string,
  mounter: Mounter,
): Promise<void> {
  const {containerName, volumeName, volumePath, path} = mount;
  const mode = await rootMode(volumePath);
  const doing = (await isPresent(join(volumePath, path))) ? 'prepare subPath' : 'create subPath directory';
  try {
    const place = await openBeneath(await realpath(volumePath), path, mode);
    try {
      await bindAt(target, place, propagationOf(mount), mounter);
    } finally {
      await place.close();
    }
  } catch (cause) {
    throw new SystemError(
      `failed to ${doing} for volumeMount ${JSON.stringify(volumeName)} of container ${JSON.stringify(containerName)}`,
      {cause, hint: messageOf(cause)},
    );
  }
}

/**
 * A part of a volume is its own mount: what appears below the volume later is to be seen there only when the container
 * asks for it, since taking down a mount that others share takes down theirs too.
 */
function propagationOf({propagation}: SubPathMount): BindPropagation {
  if (propagation === 'Bidirectional') return 'shared';
  return propagation === 'HostToContainer' ? 'slave' : 'private';
}

async function rootMode(volumePath: string): Promise<number> {
  try {
    return (await stat(volumePath)).mode & PERMISSIONS;
  } catch (cause) {
    throw new SystemError(`stat ${volumePath}: ${systemReason(cause)}`, {cause});
  }
}

/** As the kubelet sees it: links count for what they lead to, and whatever else is wrong there is no matter yet. */
async function isPresent(path: string): Promise<boolean> {
  try {
    return (await ifPresent(() => stat(path))) !== undefined;
  } catch {
    return true;
  }
}

async function bindAt(
  target: string,
  place: FileHandle,
  propagation: BindPropagation,
  mounter: Mounter,
): Promise<void> {
  const wanted = await place.stat({bigint: true});
  while (await isMountPoint(target, mounter)) {
    if (await isSame(target, wanted)) return;
    await mounter.unmount(target);
  }
  await makeTarget(target, wanted.isDirectory());
  await mounter.bind(place.fd, target, propagation);
  if (await isSame(target, wanted)) return;
  await mounter.unmount(target);
  throw new SystemError(`what is mounted at ${JSON.stringify(target)} is not what was opened`);
}

async function isSame(target: string, {dev, ino}: BigIntStats): Promise<boolean> {
  const found = await withFileErrors('looking at', target, () => lstat(target, {bigint: true}));
  return found.dev === dev && found.ino === ino;
}

/** A file can have anything but a directory mounted on it. What an earlier try left is replaced. */
async function makeTarget(target: string, directory: boolean): Promise<void> {
  await makeDirectoryPath(dirname(target), DIRECTORY_MODE);
  await withFileErrors('making', target, async () => {
    const left = await ifPresent(() => lstat(target));
    if (left !== undefined) await (left.isDirectory() ? rmdir(target) : unlink(target));
    if (directory) await mkdir(target, {mode: DIRECTORY_MODE});
    else await withFile(target, 'wx', FILE_MODE, async () => undefined);
  });
}
