import type {BigIntStats} from 'node:fs';
import {lstat, mkdir, realpath, rmdir, stat, unlink, type FileHandle} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {messageOf, rethrowUnexpected, SystemError} from '../../../base/errors.js';
import {ifPresent, validatePathSegment, withFile, withFileErrors} from '../../../base/fs/files.js';
import {systemErrorMessage} from '../../../base/system-error-message.js';
import {makeDirectoryPath} from '../../../base/fs/make-directory-path.js';
import {openBeneath} from '../../../base/fs/open-beneath.js';
import {podDir, type NodeFacts} from '../../contract/node-facts.js';
import type {SubPathMount} from '../../contract/pod-filesystem.js';
import {bindPropagation, isMountPoint, systemMounter, type BindPropagation, type Mounter} from './mounter.js';

const DIRECTORY_MODE = 0o750;
const FILE_MODE = 0o640;
const PERMISSIONS = 0o7777;

/** Container that the sub-paths are mounted for. */
export interface SubPathOwner {
  readonly podUid: string;
  readonly containerName: string;
}

/** Returns the paths of bind-mounted sub-paths by index. Throws SystemError for names that are not valid file names. */
export function subPathTargets(
  node: Pick<NodeFacts, 'rootDir'>,
  owner: SubPathOwner,
  mounts: readonly SubPathMount[],
): ReadonlyMap<number, string> {
  return new Map(mounts.map((mount) => [mount.index, subPathTarget(node, owner, mount)]));
}

/** Bind-mounts the sub-paths of a container in order and returns their paths by index. Rejects with SystemError. */
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

/** Returns `<rootDir>/pods/<uid>/volume-subpaths/<volume>/<container>/<index>`. */
function subPathTarget(
  node: Pick<NodeFacts, 'rootDir'>,
  {podUid, containerName}: SubPathOwner,
  {volumeName, index}: SubPathMount,
): string {
  return join(
    podDir(node, podUid),
    'volume-subpaths',
    validatePathSegment('volume name', volumeName),
    validatePathSegment('container name', containerName),
    String(index),
  );
}

/**
 * Bind-mounts a sub-path of a volume at `target`, safe against containers that change the volume meanwhile (makeMounts,
 * subpath PrepareSafeSubpath). A missing sub-path is created with the mode of the volume's root. The sub-path is opened
 * without following links out of the volume, and the open file is mounted. An existing mount is kept if it is the same
 * file and replaced otherwise. Rejects with SystemError with the kubelet's message; the hint has the cause.
 */
async function bindSubPath(
  mount: SubPathMount & SubPathOwner,
  target: string,
  mounter: Mounter,
): Promise<void> {
  const {containerName, volumeName, volumePath, path} = mount;
  const mode = await rootMode(volumePath);
  const action = (await isPresent(join(volumePath, path))) ? 'prepare subPath' : 'create subPath directory';
  try {
    const place = await openBeneath(await realpath(volumePath), path, mode);
    try {
      await bindAt(target, place, bindPropagation([mount.propagation]), mounter);
    } finally {
      await place.close();
    }
  } catch (cause) {
    rethrowUnexpected(cause);
    throw new SystemError(
      `failed to ${action} for volumeMount ${JSON.stringify(volumeName)} of container ${JSON.stringify(containerName)}`,
      {cause, hint: messageOf(cause)},
    );
  }
}

async function rootMode(volumePath: string): Promise<number> {
  try {
    return (await stat(volumePath)).mode & PERMISSIONS;
  } catch (cause) {
    rethrowUnexpected(cause);
    throw new SystemError(`stat ${volumePath}: ${systemErrorMessage(cause)}`, {cause});
  }
}

/** Reports whether a path exists, following links. Errors other than ENOENT count as present, as in the kubelet. */
async function isPresent(path: string): Promise<boolean> {
  try {
    return (await ifPresent(() => stat(path))) !== undefined;
  } catch (error) {
    rethrowUnexpected(error);
    return true;
  }
}

async function bindAt(
  target: string,
  place: FileHandle,
  propagation: BindPropagation,
  mounter: Mounter,
): Promise<void> {
  const expected = await place.stat({bigint: true});
  while (await isMountPoint(target, mounter)) {
    if (await isSame(target, expected)) return;
    await mounter.unmount(target);
  }
  await makeTarget(target, expected.isDirectory());
  await mounter.bind(place.fd, target, propagation);
  if (await isSame(target, expected)) return;
  await mounter.unmount(target);
  throw new SystemError(`the mount at ${JSON.stringify(target)} does not show the opened file`);
}

async function isSame(target: string, {dev, ino}: BigIntStats): Promise<boolean> {
  const found = await withFileErrors('reading', target, () => lstat(target, {bigint: true}));
  return found.dev === dev && found.ino === ino;
}

/** Creates the mount point: a directory, or a file for anything else. A leftover of an earlier attempt is replaced. */
async function makeTarget(target: string, directory: boolean): Promise<void> {
  await makeDirectoryPath(dirname(target), DIRECTORY_MODE);
  await withFileErrors('creating', target, async () => {
    const left = await ifPresent(() => lstat(target));
    if (left !== undefined) await (left.isDirectory() ? rmdir(target) : unlink(target));
    if (directory) await mkdir(target, {mode: DIRECTORY_MODE});
    else await withFile(target, 'wx', FILE_MODE, async () => undefined);
  });
}
