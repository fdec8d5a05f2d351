import {chmod, lstat} from 'node:fs/promises';
import type {EmptyDirVolumeSource} from '../../../../api/types/v1-volumes.js';
import {ifPresent, withFileErrors} from '../../../../base/fs/files.js';
import {makeDirectoryPath} from '../../../../base/fs/make-directory-path.js';
import {nodeAllocatable} from '../../../resources/node-allocatable.js';
import {mediumMount, type MediumMount} from './empty-dir-medium.js';
import {isMountPoint, type Mounter} from '../mounter.js';
import {isMarkedReady, markReady} from './ready-mark.js';
import {setOwnership} from './set-ownership.js';
import {
  podPluginDir,
  podVolumeDir,
  type PodVolume,
  type VolumeHost,
  type VolumePlugin,
} from './volume-plugin.js';

const PLUGIN = 'kubernetes.io~empty-dir';

/** Writable for all users, because containers may run as any user. */
const MODE = 0o777;
/** Mode of the directory of all volumes of the plugin, as with the usual umask of a kubelet. */
const PARENT_MODE = 0o755;

/** Plugin for `<rootDir>/pods/<uid>/volumes/kubernetes.io~empty-dir/<name>`, removed with the pod (emptydir). */
export const emptyDir: VolumePlugin<EmptyDirVolumeSource> = {
  name: 'kubernetes.io/empty-dir',
  readOnly: false,
  path: (node, volume) => podVolumeDir(node, PLUGIN, volume),
  setUp: async (host, volume) => {
    await setUpEmptyDir(host, volume, podVolumeDir(host.node, PLUGIN, volume));
  },
};

/**
 * Creates an empty directory, mounts the filesystem of its medium if any, and sets its group to the pod's fsGroup
 * (emptydir SetUpAt). An existing complete volume is kept. The pod's data directories must exist. Rejects with
 * SystemError.
 */
export async function setUpEmptyDir(
  host: Pick<VolumeHost, 'node' | 'mounter' | 'clock' | 'operated'>,
  volume: PodVolume<EmptyDirVolumeSource>,
  path: string,
): Promise<void> {
  const {node, mounter} = host;
  const mount = mediumMount(volume, nodeAllocatable(node).memoryBytes);
  const readyDir = podPluginDir(node, PLUGIN, volume);
  const present = mount === undefined ? await exists(path) : await isMountPoint(path, mounter);
  if (present && (await isMarkedReady(readyDir))) return;
  await createVolumeDirectory(path);
  if (mount !== undefined && !present) await mountMedium(mount, path, mounter);
  const {fsGroup} = volume.pod.spec.securityContext ?? {};
  await setOwnership(host, {plugin: emptyDir.name, path, fsGroup, readOnly: false});
  await markReady(readyDir);
}

async function exists(path: string): Promise<boolean> {
  return (await withFileErrors('reading', path, () => ifPresent(() => lstat(path)))) !== undefined;
}

async function createVolumeDirectory(path: string): Promise<void> {
  await makeDirectoryPath(path, PARENT_MODE);
  await withFileErrors('changing the mode of', path, () => chmod(path, MODE));
}

/** Mounts with the first options that the kernel supports. */
async function mountMedium(
  {fileSystem, options}: MediumMount,
  path: string,
  mounter: Mounter,
): Promise<void> {
  for (const [index, attempt] of options.entries()) {
    try {
      await mounter.mount(fileSystem, path, attempt);
      return;
    } catch (error) {
      if (index === options.length - 1) throw error;
    }
  }
}
