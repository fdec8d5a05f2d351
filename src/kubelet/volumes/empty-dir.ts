import {chmod, lstat} from 'node:fs/promises';
import {join} from 'node:path';
import type {EmptyDirVolumeSource} from '../../api/v1-volumes.js';
import {ifPresent, withFile, withFileErrors} from '../../base/files.js';
import {makeDirectoryPath} from '../../base/make-directory-path.js';
import {nodeAllocatable} from '../container/node.js';
import {mediumMount, type MediumMount} from './empty-dir-medium.js';
import {isMountPoint, type Mounter} from './mounts.js';
import {setVolumeOwnership} from './ownership.js';
import {
  podPluginDir,
  podVolumeDir,
  type PodVolume,
  type VolumeHost,
  type VolumePlugin,
} from './volume-plugin.js';

const PLUGIN = 'kubernetes.io~empty-dir';

/** Everybody may write: which user a container has is its own business. */
const MODE = 0o777;

/** `<rootDir>/pods/<uid>/volumes/kubernetes.io~empty-dir/<name>`, which lives as long as the pod (emptydir). */
export const emptyDir: VolumePlugin<EmptyDirVolumeSource> = {
  readOnly: false,
  path: (node, volume) => podVolumeDir(node, PLUGIN, volume),
  setUp: async (host, volume) => {
    await setUpEmptyDir(host, volume, podVolumeDir(host.node, PLUGIN, volume));
  },
};

/**
 * Makes an empty directory at the path, mounts memory on it if its medium says so, and gives it to the pod's fsGroup
 * (emptydir SetUpAt). One that is ready is kept with what is in it. The pod's data directories must exist. Rejects with
 * SystemError.
 */
export async function setUpEmptyDir(
  {node, mounter}: Pick<VolumeHost, 'node' | 'mounter'>,
  volume: PodVolume<EmptyDirVolumeSource>,
  path: string,
): Promise<void> {
  const mount = mediumMount(volume, nodeAllocatable(node).memoryBytes);
  const readyDir = podPluginDir(node, PLUGIN, volume);
  const present = mount === undefined ? await exists(path) : await isMountPoint(path, mounter);
  if (present && (await exists(join(readyDir, 'ready')))) return;
  await makeVolumeDirectory(path);
  if (mount !== undefined && !present) await mountMedium(mount, path, mounter);
  await setVolumeOwnership(path, {fsGroup: volume.pod.spec.securityContext?.fsGroup, readOnly: false});
  await setReady(readyDir);
}

async function exists(path: string): Promise<boolean> {
  return (await withFileErrors('looking at', path, () => ifPresent(() => lstat(path)))) !== undefined;
}

async function makeVolumeDirectory(path: string): Promise<void> {
  await makeDirectoryPath(path, 0o750);
  await withFileErrors('opening up the directory', path, () => chmod(path, MODE));
}

/** By the first options that the kernel knows. */
async function mountMedium(
  {fileSystem, options}: MediumMount,
  path: string,
  mounter: Mounter,
): Promise<void> {
  for (const [index, tried] of options.entries()) {
    try {
      await mounter.mount(fileSystem, path, tried);
      return;
    } catch (error) {
      if (index === options.length - 1) throw error;
    }
  }
}

/** Marks that the volume is complete: what a killed process began is begun again. */
async function setReady(readyDir: string): Promise<void> {
  await makeDirectoryPath(readyDir, 0o750);
  const path = join(readyDir, 'ready');
  await withFileErrors('making', path, () => withFile(path, 'w', 0o644, async () => undefined));
}
