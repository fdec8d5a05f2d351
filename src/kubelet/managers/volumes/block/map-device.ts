import {open, readlink, rm, stat, symlink} from 'node:fs/promises';
import {dirname} from 'node:path';
import {messageOf, rethrowUnexpected, SystemError} from '../../../../base/errors.js';
import {O_PATH} from '../../../../base/fs/file-handles.js';
import {ifPresent, withFile, withFileErrors} from '../../../../base/fs/files.js';
import {makeDirectoryPath} from '../../../../base/fs/make-directory-path.js';
import {isMountPoint, unmountBelow, type Mounter} from '../mounter.js';
import {VolumeStepError} from '../volume-step-error.js';
import type {DeviceMap} from './block-paths.js';
import type {LoopDevices} from './loop-devices.js';

/** Tools to map devices. */
export interface MapTools {
  readonly mounter: Mounter;
  readonly loops: LoopDevices;
}

/**
 * Maps a device for a pod: a link for its containers, a bind mount, and a loop device that keeps it open (MapBlockVolume).
 * Completes the work of a killed process; a map of another device is replaced. Rejects with VolumeStepError.
 */
export async function mapDevice(device: string, map: DeviceMap, {mounter, loops}: MapTools): Promise<void> {
  try {
    // First of all, so that the removal of the pod finds whatever else a killed process has done.
    await linkDevice(device, map.linkPath);
    await bindDevice(device, map.globalPath, {mounter, loops});
    await loops.attach(map.globalPath);
  } catch (cause) {
    rethrowUnexpected(cause);
    const hint = cause instanceof SystemError ? cause.hint : undefined;
    const failure = `blkUtil.MapDevice failed. devicePath: ${device}, globalMapPath:${map.globalDir}`;
    throw new VolumeStepError('MapVolume.MapBlockVolume failed', `${failure}: ${messageOf(cause)}`, {
      cause,
      hint,
    });
  }
}

/** Removes the map of a device for a pod, as far as it exists (UnmapBlockVolume); the link remains. Rejects with SystemError. */
export async function unmapDevice({globalPath}: DeviceMap, {mounter, loops}: MapTools): Promise<void> {
  await loops.detach(globalPath);
  await unmountBelow(globalPath, mounter, (_mount, below) => below === '');
  await withFileErrors('removing', globalPath, () => rm(globalPath, {force: true}));
}

/** Removes the link to a device, which has no map anymore. Rejects with SystemError. */
export async function unlinkDevice({linkPath}: Pick<DeviceMap, 'linkPath'>): Promise<void> {
  await withFileErrors('removing', linkPath, () => rm(linkPath, {force: true}));
}

/** Makes a link to a device, in place of an old one. Rejects with SystemError. */
export async function linkDevice(device: string, path: string): Promise<void> {
  await makeDirectoryPath(dirname(path), 0o750);
  await withFileErrors('linking', path, async () => {
    const found = await ifPresent(() => readlink(path));
    if (found === device) return;
    await rm(path, {force: true});
    await symlink(device, path);
  });
}

async function bindDevice(device: string, path: string, {mounter, loops}: MapTools): Promise<void> {
  await makeDirectoryPath(dirname(path), 0o750);
  if (await isMountPoint(path, mounter)) {
    if ((await deviceNumber(path)) === (await deviceNumber(device))) return;
    await loops.detach(path);
    await mounter.unmount(path);
  }
  await withFileErrors('creating', path, async () => {
    const file = await open(path, 'a', 0o750);
    await file.close();
  });
  await withFileErrors('mapping', device, () =>
    withFile(device, O_PATH, 0, async ({fd}) => {
      await mounter.bind(fd, path, 'private');
    }),
  );
}

async function deviceNumber(path: string): Promise<number> {
  const {rdev} = await withFileErrors('reading', path, () => stat(path));
  return rdev;
}
