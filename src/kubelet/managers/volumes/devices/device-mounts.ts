import {rmdir} from 'node:fs/promises';
import {join} from 'node:path';
import {hasErrno, SystemError} from '../../../../base/errors.js';
import {listNames, validatePathSegment, withFileErrors} from '../../../../base/fs/files.js';
import {acquireLock} from '../../../../base/fs/lock.js';
import {makeDirectoryPath} from '../../../../base/fs/make-directory-path.js';
import {shellQuote} from '../../../../base/shell-quote.js';
import type {NodeFacts} from '../../../contract/node-facts.js';
import {findMountAt, listMountsBelow, unmountBelow, type Mounter} from '../mounter.js';
import {isMountOf} from './block-device.js';
import {formatAndMount, type DeviceMount, type DeviceTools} from './format-and-mount.js';

type RootFacts = Pick<NodeFacts, 'rootDir'>;

/** Directory of local volumes below that of a pod's volumes. */
export const LOCAL_VOLUMES = 'kubernetes.io~local-volume';

/** Returns the path at which the device of a local volume is mounted for all pods (getGlobalLocalPath). */
export function deviceMountPath(node: RootFacts, name: string): string {
  return join(mountsDir(node), validatePathSegment('volume name', name));
}

function mountsDir(node: RootFacts): string {
  return join(pluginDir(node), 'mounts');
}

function pluginDir({rootDir}: RootFacts): string {
  return join(rootDir, 'plugins/kubernetes.io/local-volume');
}

/** Runs `work` with the device of a volume locked against other pods and processes. Rejects with the signal's reason. */
export async function withDeviceLock<T>(
  node: RootFacts,
  name: string,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const path = join(pluginDir(node), 'locks', validatePathSegment('volume name', name));
  const lock = await acquireLock(path, {signal});
  try {
    return await work();
  } finally {
    await lock[Symbol.asyncDispose]();
  }
}

/**
 * Mounts a device for all pods, formatted if it is unformatted, unless it is mounted already (MountDevice). The caller holds
 * the volume's lock. Rejects like formatAndMount.
 */
export async function mountDevice(
  mount: DeviceMount,
  tools: DeviceTools & {readonly mounter: Mounter},
  signal: AbortSignal,
): Promise<void> {
  const {device, path} = mount;
  const mounted = await findMountAt(path, tools.mounter);
  if (mounted !== undefined) {
    if (await isMountOf(mounted, device)) return;
    throw new SystemError(`${JSON.stringify(path)} is the mount of another device, ${mounted.source}`, {
      hint: `delete the pods that use it, or unmount it with: umount ${shellQuote(path)}`,
    });
  }
  await makeDirectoryPath(path, 0o750);
  try {
    await formatAndMount(mount, tools, signal);
  } catch (error) {
    await removeEmpty(path);
    throw error;
  }
}

/** Unmounts the device of a local volume after its last pod (UnmountDevice); a volume on a directory has none. */
export async function releaseDevice(node: RootFacts, name: string, mounter: Mounter): Promise<void> {
  // Does not look at the mount itself, which fails if its device is broken.
  if (!(await listNames(mountsDir(node))).includes(name)) return;
  await withDeviceLock(node, name, undefined, async () => {
    await unmountUnusedDevice(node, name, mounter);
  });
}

/** Unmounts the device of a local volume if no pod uses it. The caller holds the volume's lock. */
export async function unmountUnusedDevice(node: RootFacts, name: string, mounter: Mounter): Promise<void> {
  const path = deviceMountPath(node, name);
  if ((await listUsers(node, name, mounter)).length > 0) return;
  await unmountBelow(path, mounter, (_mount, below) => below === '');
  await removeEmpty(path);
}

/** Removes a directory, unless somebody has put files into it while nothing was mounted. */
export async function removeEmpty(path: string): Promise<void> {
  await withFileErrors('removing', path, async () => {
    try {
      await rmdir(path);
    } catch (error) {
      if (!hasErrno(error, 'ENOENT', 'ENOTEMPTY')) throw error;
    }
  });
}

/** Returns the UIDs of the pods that have this local volume mounted. */
export async function listUsers(
  {rootDir}: RootFacts,
  name: string,
  mounter: Mounter,
): Promise<readonly string[]> {
  const suffix = `/volumes/${LOCAL_VOLUMES}/${name}`;
  const mounts = await listMountsBelow(join(rootDir, 'pods'), mounter);
  return mounts.flatMap(({below}) => {
    const uid = below.slice(0, -suffix.length);
    return below.endsWith(suffix) && !uid.includes('/') ? [uid] : [];
  });
}
