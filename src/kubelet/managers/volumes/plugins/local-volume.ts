import type {Stats} from 'node:fs';
import {rmdir, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {allContainersOf} from '../../../../api/pod-containers.js';
import type {LocalVolumeSource} from '../../../../api/types/v1-persistent-volumes.js';
import type {MountPropagationMode, Pod} from '../../../../api/types/v1-pod.js';
import {SystemError} from '../../../../base/errors.js';
import {OPEN_DIRECTORY} from '../../../../base/fs/file-handles.js';
import {ifPresent, withFile, withFileErrors} from '../../../../base/fs/files.js';
import {makeDirectoryPath} from '../../../../base/fs/make-directory-path.js';
import {bindPropagation, isMountPoint, type Mounter} from '../mounter.js';
import {joinMountOptions} from '../mount-options.js';
import {setVolumeOwnership} from '../volume-ownership.js';
import {isMarkedReady, markReady, unmarkReady} from './ready-mark.js';
import {
  podPluginDir,
  podVolumeDir,
  type PodVolume,
  type VolumeHost,
  type VolumePlugin,
} from './volume-plugin.js';
import {VolumeStepError} from './volume-step-error.js';

const PLUGIN = 'kubernetes.io~local-volume';

/** Plugin for directories of the node that are PersistentVolumes; they are bind-mounted for each pod (local). */
export const localVolume: VolumePlugin<LocalVolumeSource> = {
  name: 'kubernetes.io/local-volume',
  readOnly: false,
  keepsLabels: ({readOnly = false}) => readOnly,
  path: (node, volume) => podVolumeDir(node, PLUGIN, volume),
  check: checkLocalPath,
  setUp: async (host, volume) => {
    const path = podVolumeDir(host.node, PLUGIN, volume);
    const readyDir = podPluginDir(host.node, PLUGIN, volume);
    const isMounted = await isMountPoint(path, host.mounter);
    if (isMounted && (await isMarkedReady(readyDir))) return;
    const others = await mountsOfOtherPods(host, volume, path);
    if (others.length > 0 && isForOnePod(volume))
      throw new SystemError(
        'volume uses the ReadWriteOncePod access mode and is already in use by another pod',
      );
    if (others.length > 0) await warnAboutGroup(host, volume);
    await unmarkReady(readyDir);
    // A killed process has left it without its options.
    if (isMounted) await host.mounter.unmount(path);
    await bindLocal(volume, path, host.mounter);
    if (volume.readOnly !== true && others.length === 0) await setOwnership(volume.pod, path);
    await markReady(readyDir);
  },
};

async function checkLocalPath({source: {path}}: PodVolume<LocalVolumeSource>): Promise<void> {
  const failed = (message: string): VolumeStepError =>
    new VolumeStepError('MountVolume.NewMounter initialization failed', message);
  const stats: Stats | undefined = await withFileErrors('reading', path, () => ifPresent(() => stat(path)));
  if (stats === undefined) throw failed(`path ${JSON.stringify(path)} does not exist`);
  if (stats.isBlockDevice()) throw failed(`${path} is a block device, which kcri cannot mount`);
  if (!stats.isDirectory()) throw failed('only directory and block device are supported');
}

function isForOnePod({accessModes = []}: PodVolume<LocalVolumeSource>): boolean {
  return accessModes.length === 1 && accessModes[0] === 'ReadWriteOncePod';
}

/** Returns the mounts of this volume that belong to other pods. */
async function mountsOfOtherPods(
  {node, mounter}: VolumeHost,
  {name}: PodVolume<LocalVolumeSource>,
  own: string,
): Promise<readonly string[]> {
  const pods = join(node.rootDir, 'pods/');
  const suffix = `/volumes/${PLUGIN}/${name}`;
  const isOfPod = (path: string): boolean => path.startsWith(pods) && path.endsWith(suffix);
  return (await mounter.list()).map(({path}) => path).filter((path) => isOfPod(path) && path !== own);
}

/** Records that the pod requests another group than the volume has, which only its first pod sets. */
async function warnAboutGroup(
  {events}: VolumeHost,
  {pod, name, source}: PodVolume<LocalVolumeSource>,
): Promise<void> {
  const fsGroup = pod.spec.securityContext?.fsGroup;
  if (fsGroup === undefined) return;
  const {gid} = await withFileErrors('reading', source.path, () => stat(source.path));
  if (gid === fsGroup) return;
  const message = `The requested fsGroup is ${fsGroup}, but the volume ${name} has GID ${gid}. The volume may not be shareable.`;
  events?.({type: 'Warning', reason: 'AlreadyMountedVolume', message, pod});
}

async function bindLocal(
  volume: PodVolume<LocalVolumeSource>,
  path: string,
  mounter: Mounter,
): Promise<void> {
  const {source, readOnly = false, mountOptions = []} = volume;
  await makeDirectoryPath(path, 0o750);
  try {
    await withFileErrors('mounting', source.path, () =>
      withFile(source.path, OPEN_DIRECTORY, 0, async ({fd}) => {
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

async function setOwnership({spec: {securityContext = {}}}: Pod, path: string): Promise<void> {
  const {fsGroup, fsGroupChangePolicy} = securityContext;
  await setVolumeOwnership(path, {
    fsGroup,
    readOnly: false,
    onlyOnRootMismatch: fsGroupChangePolicy === 'OnRootMismatch',
  });
}
