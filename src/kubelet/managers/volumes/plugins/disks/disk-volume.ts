import {KcriError, messageOf, rethrowUnexpected} from '../../../../../base/errors.js';
import {validatePathSegment} from '../../../../../base/fs/files.js';
import {makeDirectoryPath} from '../../../../../base/fs/make-directory-path.js';
import type {NodeFacts} from '../../../../contract/node-facts.js';
import {podRef} from '../../../../contract/pod-ref.js';
import {deviceMap} from '../../block/block-paths.js';
import {mapDevice} from '../../block/map-device.js';
import {reportMapped} from '../../block/report-mapped.js';
import {mountDevice} from '../../devices/device-mounts.js';
import type {DeviceNotice} from '../../devices/format-and-mount.js';
import {requireExclusive} from '../../is-for-one-pod.js';
import {joinMountOptions} from '../../mount-options.js';
import {isMountPoint} from '../../mounter.js';
import {bindForPod} from '../bind-for-pod.js';
import {controllerAttachments, untilAttached} from '../controller-attachments.js';
import {isMarkedReady} from '../ready-mark.js';
import {
  podPluginDir,
  podVolumeDir,
  type PodVolume,
  type VolumeHost,
  type VolumePlugin,
} from '../volume-plugin.js';
import {VolumeStepError} from '../../volume-step-error.js';
import {recordUniqueName} from './attached-disks.js';
import {withPlaceLock} from './disk-lock.js';
import {diskDir, listMapUsers, podDirectoryOf, type DiskKind, type DiskPlace} from './disk-place.js';
import {listDiskUsers, recordDisk} from './pod-disks.js';

/** The disk of a volume. */
export interface VolumeDisk {
  readonly place: DiskPlace;
  /** Name of the volume in the status of the node. */
  readonly uniqueName: string;
  /** Type of its filesystem; undefined for that which it has, or ext4. */
  readonly fsType: string | undefined;
  /**
   * Makes the disk appear on the node, and returns its path in /dev. Rejects with SystemError, VolumeStepError for a step before
   * that, and with the signal's reason.
   */
  attach(host: VolumeHost, signal: AbortSignal): Promise<string>;
}

/** Returns the disk of a volume. Throws SystemError for a source that cannot be one. */
type DiskOf<Source> = (volume: PodVolume<Source>, isBlock: boolean) => VolumeDisk;

/**
 * Creates the plugin of volumes with a filesystem on disks of a kind: the disk is attached and mounted once, and bound for each
 * pod. A disk that is mounted at its place already, also by a kubelet, is only bound.
 */
export function createDiskPlugin<Source>(kind: DiskKind, diskOf: DiskOf<Source>): VolumePlugin<Source> {
  const name = `kubernetes.io/${kind}`;
  const plugin = podDirectoryOf(kind);
  return {
    name,
    canHang: true,
    readOnly: false,
    keepsLabels: ({readOnly = false}) => readOnly,
    path: (node, volume) => podVolumeDir(node, plugin, volume),
    setUp: async (host, volume, signal) => {
      const {node, mounter} = host;
      const path = podVolumeDir(node, plugin, volume);
      const readyDir = podPluginDir(node, plugin, volume);
      const disk = diskOf(volume, false);
      if ((await isMountPoint(path, mounter)) && (await isMarkedReady(readyDir))) {
        controllerAttachments(host)?.use(disk.uniqueName, podRef(volume.pod).uid);
        return;
      }
      // Without the lock: a controller can take long, or never attach it.
      await untilAttached(host, volume, {...disk, plugin: name}, signal);
      await withPlaceLock(host, disk.place, signal, async () => {
        await record(host, readyDir, disk);
        await makeDirectoryPath(path, 0o750);
        const directory = diskDir(node, disk.place);
        if (!(await isMountPoint(directory, mounter))) {
          const device = await attach(disk, host, 'MountVolume', signal);
          const {fsType} = disk;
          await mountForAllPods(host, volume, {device, path: directory, fsType}, signal);
        }
        const users = await listDiskUsers(node, disk.place, mounter);
        requireExclusive(volume, users, 'MountVolume.SetUp failed');
        await bindForPod(host, volume, {plugin, directory, setsGroup: true});
      });
    },
  };
}

/** Creates the plugin of disks of a kind that containers get as devices: it is attached, and mapped for each pod. */
export function createBlockDiskPlugin<Source>(kind: DiskKind, diskOf: DiskOf<Source>): VolumePlugin<Source> {
  const name = `kubernetes.io/${kind}`;
  const plugin = podDirectoryOf(kind);
  const mapOf = (node: Pick<NodeFacts, 'rootDir'>, volume: PodVolume<Source>, globalDir: string) =>
    deviceMap(node, {globalDir, plugin, uid: podRef(volume.pod).uid, name: volume.name});
  return {
    name,
    canHang: true,
    readOnly: false,
    isBlock: true,
    path: (node, volume) => mapOf(node, volume, node.rootDir).linkPath,
    setUp: async (host, volume, signal) => {
      const {node} = host;
      const disk = diskOf(volume, true);
      await untilAttached(host, volume, {...disk, plugin: name}, signal);
      await withPlaceLock(host, disk.place, signal, async () => {
        await record(host, podPluginDir(node, plugin, volume), disk);
        const map = mapOf(node, volume, diskDir(node, disk.place));
        requireExclusive(volume, await listMapUsers(map.globalDir), 'MapVolume.SetUpDevice failed');
        const device = await attach(disk, host, 'MapVolume', signal);
        await mapDevice(device, map, host);
        reportMapped(host, volume, map);
      });
    },
  };
}

/** Records the disk of a pod's volume, and how a controller that attaches it names it. */
async function record(host: VolumeHost, directory: string, {place, uniqueName}: VolumeDisk): Promise<void> {
  await recordDisk(directory, place);
  if (controllerAttachments(host) !== undefined) await recordUniqueName(directory, uniqueName);
}

/** Attaches the disk, and names the step in a failure (WaitForAttach). */
async function attach(
  disk: VolumeDisk,
  host: VolumeHost,
  mounting: 'MountVolume' | 'MapVolume',
  signal: AbortSignal,
): Promise<string> {
  try {
    return await disk.attach(host, signal);
  } catch (cause) {
    signal.throwIfAborted();
    rethrowUnexpected(cause);
    const hint = cause instanceof KcriError ? cause.hint : undefined;
    const step = cause instanceof VolumeStepError ? cause.step : 'WaitForAttach failed';
    throw new VolumeStepError(`${mounting}.${step}`, messageOf(cause), {cause, hint});
  }
}

/** A filesystem on a disk. */
export interface DiskFilesystem {
  readonly device: string;
  /** Path at which it is mounted for all pods. */
  readonly path: string;
  /** Undefined or empty for the type that it has, or ext4. */
  readonly fsType: string | undefined;
}

/** Mounts the filesystem of a disk, which is formatted if it is empty. Rejects with VolumeStepError and the signal's reason. */
export async function mountForAllPods(
  host: VolumeHost,
  volume: PodVolume<unknown>,
  {device, path, fsType = ''}: DiskFilesystem,
  signal: AbortSignal,
): Promise<void> {
  const {pod, readOnly = false, mountOptions = []} = volume;
  const notify = (notice: DeviceNotice): void => host.events?.({...notice, pod});
  const mount = {
    ...{device, path},
    options: joinMountOptions(mountOptions, readOnly ? ['ro'] : []),
    acceptsOtherType: fsType === '',
    hints: {fsType: 'fsType of the volume', partitions: 'use a disk without them'},
  };
  try {
    const fileSystem = validatePathSegment('file system type', fsType === '' ? 'ext4' : fsType);
    await mountDevice({...mount, fileSystem}, {...host, notify}, signal);
  } catch (cause) {
    signal.throwIfAborted();
    rethrowUnexpected(cause);
    const hint = cause instanceof KcriError ? cause.hint : undefined;
    throw new VolumeStepError('MountVolume.MountDevice failed', messageOf(cause), {cause, hint});
  }
}
