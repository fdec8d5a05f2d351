import type {Stats} from 'node:fs';
import {stat} from 'node:fs/promises';
import type {LocalVolumeSource} from '../../../../api/types/v1-persistent-volumes.js';
import {KcriError, messageOf, SystemError} from '../../../../base/errors.js';
import {ifPresent, validatePathSegment, withFileErrors} from '../../../../base/fs/files.js';
import {makeDirectoryPath} from '../../../../base/fs/make-directory-path.js';
import {podRef} from '../../../contract/pod-ref.js';
import type {ExpandableVolume} from '../../../contract/volumes/csi-volumes.js';
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
import {resizeFilesystem} from '../devices/resize-filesystem.js';
import {isMountPoint} from '../mounter.js';
import {joinMountOptions} from '../mount-options.js';
import {bindForPod} from './bind-for-pod.js';
import {expandOnNode} from './expand-on-node.js';
import {isMarkedReady} from './ready-mark.js';
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
  // As in a kubelet, a directory has the size of its filesystem.
  expand: async (host, volume, options) => {
    const expand: ExpandableVolume['expandOnNode'] = async (_, signal) => {
      const device = await findBlockDevice(volume.source.path);
      const path = podVolumeDir(host.node, PLUGIN, volume);
      if (device !== undefined) await resizeFilesystem({device, path}, host.runTool, signal);
    };
    return await expandOnNode(host, volume, {plugin: localVolume.name, options, expand});
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

const HINTS = {
  fsType: 'spec.local.fsType of the PersistentVolume',
  partitions: 'set spec.local.path of the PersistentVolume to one of them',
};

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
    await mountDevice({device, path, fileSystem, options, hints: HINTS}, {...host, notify}, signal);
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
  const {uid} = podRef(volume.pod);
  const isShared = (await listUsers(node, volume.name, mounter)).some((other) => other !== uid);
  if (isShared && isForOnePod(volume))
    throw new SystemError(
      'volume uses the ReadWriteOncePod access mode and is already in use by another pod',
    );
  if (isShared) await warnAboutGroup(host, volume, directory);
  await bindForPod(host, volume, {plugin: PLUGIN, directory, setsGroup: !isShared});
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
