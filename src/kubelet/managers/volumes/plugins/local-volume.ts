import type {Stats} from 'node:fs';
import {rmdir, stat} from 'node:fs/promises';
import {allContainersOf} from '../../../../api/pod-containers.js';
import type {LocalVolumeSource} from '../../../../api/types/v1-persistent-volumes.js';
import type {MountPropagationMode, Pod} from '../../../../api/types/v1-pod.js';
import {KcriError, messageOf, SystemError} from '../../../../base/errors.js';
import {OPEN_DIRECTORY} from '../../../../base/fs/file-handles.js';
import {ifPresent, validatePathSegment, withFile, withFileErrors} from '../../../../base/fs/files.js';
import {makeDirectoryPath} from '../../../../base/fs/make-directory-path.js';
import {podRef} from '../../../contract/pod-ref.js';
import {findBlockDevice} from '../devices/block-device.js';
import {
  deviceMountPath,
  listUsers,
  LOCAL_VOLUMES,
  mountDevice,
  unmountUnusedDevice,
  withDeviceLock,
} from '../devices/device-mounts.js';
import type {DeviceNotice} from '../devices/format-and-mount.js';
import {bindPropagation, isMountPoint, type Mounter} from '../mounter.js';
import {joinMountOptions} from '../mount-options.js';
import {setVolumeOwnership} from '../fs-group-ownership.js';
import {isMarkedReady, markReady, unmarkReady} from './ready-mark.js';
import {
  podPluginDir,
  podVolumeDir,
  type PodVolume,
  type VolumeHost,
  type VolumePlugin,
} from './volume-plugin.js';
import {isForOnePod} from '../is-for-one-pod.js';
import {VolumeStepError} from '../volume-step-error.js';

const PLUGIN = LOCAL_VOLUMES;

/**
 * Plugin for directories and block devices of the node that are PersistentVolumes. A device is mounted once; it or the
 * directory is bind-mounted for each pod (local).
 */
export const localVolume: VolumePlugin<LocalVolumeSource> = {
  name: 'kubernetes.io/local-volume',
  readOnly: false,
  keepsLabels: ({readOnly = false}) => readOnly,
  path: (node, volume) => podVolumeDir(node, PLUGIN, volume),
  check: checkLocalPath,
  setUp: async (host, volume, signal) => {
    const path = podVolumeDir(host.node, PLUGIN, volume);
    const readyDir = podPluginDir(host.node, PLUGIN, volume);
    if ((await isMountPoint(path, host.mounter)) && (await isMarkedReady(readyDir))) return;
    const device = await findBlockDevice(volume.source.path);
    if (device === undefined) await mountForPod(host, volume, volume.source.path);
    else
      await withDeviceLock(host.node, volume.name, signal, async () => {
        // From now on the removal of the pod releases the device, also if this process is killed.
        await makeDirectoryPath(path, 0o750);
        try {
          await mountForPod(host, volume, await mountForAllPods(host, volume, device, signal));
        } catch (error) {
          await unmountUnusedDevice(host.node, volume.name, host.mounter);
          throw error;
        }
      });
  },
};

async function checkLocalPath({source: {path}}: PodVolume<LocalVolumeSource>): Promise<void> {
  const failed = (message: string): VolumeStepError =>
    new VolumeStepError('MountVolume.NewMounter initialization failed', message);
  const stats: Stats | undefined = await withFileErrors('reading', path, () => ifPresent(() => stat(path)));
  if (stats === undefined) throw failed(`path ${JSON.stringify(path)} does not exist`);
  if (!stats.isDirectory() && !stats.isBlockDevice())
    throw failed('only directory and block device are supported');
}

/** Mounts the device of a volume, and returns where. */
async function mountForAllPods(
  host: VolumeHost,
  volume: PodVolume<LocalVolumeSource>,
  device: string,
  signal: AbortSignal,
): Promise<string> {
  const {pod, name, source, readOnly = false, mountOptions = []} = volume;
  const {fsType = 'ext4'} = source;
  const path = deviceMountPath(host.node, name);
  const notify = (notice: DeviceNotice): void => host.events?.({...notice, pod});
  try {
    const fileSystem = validatePathSegment('file system type', fsType === '' ? 'ext4' : fsType);
    const options = joinMountOptions(mountOptions, readOnly ? ['ro'] : []);
    await mountDevice({device, path, fileSystem, options}, {...host, notify}, signal);
    return path;
  } catch (cause) {
    signal.throwIfAborted();
    throw new VolumeStepError(
      'MountVolume.MountDevice failed',
      `local: failed to mount device ${source.path} at ${path} (fstype: ${fsType}), error ${messageOf(cause)}`,
      {cause, hint: cause instanceof KcriError ? cause.hint : undefined},
    );
  }
}

/** Binds the directory of a volume, or where its device is mounted, into the directory of the pod. */
async function mountForPod(
  host: VolumeHost,
  volume: PodVolume<LocalVolumeSource>,
  directory: string,
): Promise<void> {
  const {node, mounter} = host;
  const path = podVolumeDir(node, PLUGIN, volume);
  const readyDir = podPluginDir(node, PLUGIN, volume);
  const {uid} = podRef(volume.pod);
  const isShared = (await listUsers(node, volume.name, mounter)).some((other) => other !== uid);
  if (isShared && isForOnePod(volume))
    throw new SystemError(
      'volume uses the ReadWriteOncePod access mode and is already in use by another pod',
    );
  if (isShared) await warnAboutGroup(host, volume, directory);
  await unmarkReady(readyDir);
  // A killed process has left it without its options.
  if (await isMountPoint(path, mounter)) await mounter.unmount(path);
  await bindLocal(volume, directory, path, mounter);
  if (volume.readOnly !== true && !isShared) await setOwnership(volume.pod, path);
  await markReady(readyDir);
}

/** Records that the pod requests another group than the volume has, which only its first pod sets. */
async function warnAboutGroup(
  {events}: VolumeHost,
  {pod, name}: PodVolume<LocalVolumeSource>,
  directory: string,
): Promise<void> {
  const fsGroup = pod.spec.securityContext?.fsGroup;
  if (fsGroup === undefined) return;
  const {gid} = await withFileErrors('reading', directory, () => stat(directory));
  if (gid === fsGroup) return;
  const message = `The requested fsGroup is ${fsGroup}, but the volume ${name} has GID ${gid}. The volume may not be shareable.`;
  events?.({type: 'Warning', reason: 'AlreadyMountedVolume', message, pod});
}

async function bindLocal(
  volume: PodVolume<LocalVolumeSource>,
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

async function setOwnership({spec: {securityContext = {}}}: Pod, path: string): Promise<void> {
  const {fsGroup, fsGroupChangePolicy} = securityContext;
  await setVolumeOwnership(path, {
    fsGroup,
    readOnly: false,
    onlyOnRootMismatch: fsGroupChangePolicy === 'OnRootMismatch',
  });
}
