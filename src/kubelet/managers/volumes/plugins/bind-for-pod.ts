import {rmdir} from 'node:fs/promises';
import {allContainersOf} from '../../../../api/pod-containers.js';
import type {MountPropagationMode} from '../../../../api/types/v1-pod.js';
import {OPEN_DIRECTORY} from '../../../../base/fs/file-handles.js';
import {withFile, withFileErrors} from '../../../../base/fs/files.js';
import {makeDirectoryPath} from '../../../../base/fs/make-directory-path.js';
import {setOwnership} from './set-ownership.js';
import {joinMountOptions} from '../mount-options.js';
import {bindPropagation, isMountPoint, type Mounter} from '../mounter.js';
import {markReady, unmarkReady} from './ready-mark.js';
import {podPluginDir, podVolumeDir, type PodVolume, type VolumeHost} from './volume-plugin.js';

/** What is bound for a pod. */
export interface BoundDirectory {
  /** Name of the plugin's directory in that of the pod. */
  readonly plugin: string;
  /** Directory of the node that is the volume. */
  readonly directory: string;
  /** True if the files get the group of the pod. */
  readonly setsGroup: boolean;
}

/**
 * Binds a directory of the node, which several pods can have, into the directory of the pod, and marks the volume as complete.
 * Replaces the mount of a killed process. Rejects with SystemError.
 */
export async function bindForPod(
  host: Pick<VolumeHost, 'node' | 'mounter' | 'clock' | 'operated'>,
  volume: PodVolume<unknown>,
  {plugin, directory, setsGroup}: BoundDirectory,
): Promise<void> {
  const {node, mounter} = host;
  const path = podVolumeDir(node, plugin, volume);
  const readyDir = podPluginDir(node, plugin, volume);
  await unmarkReady(readyDir);
  // A killed process has left it without its options.
  if (await isMountPoint(path, mounter)) await mounter.unmount(path);
  await bind(volume, directory, path, mounter);
  if (volume.readOnly !== true && setsGroup) await setPodOwnership(host, volume, {plugin, path});
  await markReady(readyDir);
}

async function bind(
  volume: PodVolume<unknown>,
  directory: string,
  path: string,
  mounter: Mounter,
): Promise<void> {
  const {readOnly = false, mountOptions = []} = volume;
  await makeDirectoryPath(path, 0o750);
  try {
    await withFileErrors('mounting', directory, () =>
      withFile(directory, OPEN_DIRECTORY, 0, async ({fd}) => {
        await mounter.bind(fd, path, bindPropagation(propagationModes(volume)));
      }),
    );
    const options = joinMountOptions(mountOptions, readOnly ? ['ro'] : []);
    if (options.length > 0) await mounter.remountBind(path, options);
  } catch (error) {
    if (await isMountPoint(path, mounter)) await mounter.unmount(path);
    await withFileErrors('removing', path, () => rmdir(path));
    throw error;
  }
}

function propagationModes({pod, name, specName = name}: PodVolume<unknown>): readonly MountPropagationMode[] {
  return allContainersOf(pod).flatMap(({volumeMounts = []}) =>
    volumeMounts
      .filter((mount) => mount.name === specName)
      .map(({mountPropagation = 'None'}) => mountPropagation),
  );
}

/** Gives the files of a volume the group of its pod, if that has one; `plugin` is the name of the plugin's directory. Rejects with SystemError. */
export async function setPodOwnership(
  host: Pick<VolumeHost, 'clock' | 'operated'>,
  {pod}: PodVolume<unknown>,
  {plugin, path}: {readonly plugin: string; readonly path: string},
): Promise<void> {
  const {fsGroup, fsGroupChangePolicy} = pod.spec.securityContext ?? {};
  await setOwnership(host, {
    plugin: plugin.replace('~', '/'),
    path,
    fsGroup,
    readOnly: false,
    onlyOnRootMismatch: fsGroupChangePolicy === 'OnRootMismatch',
  });
}
