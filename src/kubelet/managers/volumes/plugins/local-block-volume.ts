import {realpath, stat} from 'node:fs/promises';
import type {LocalVolumeSource} from '../../../../api/types/v1-persistent-volumes.js';
import {messageOf, rethrowUnexpected, SystemError} from '../../../../base/errors.js';
import {listNames, withFileErrors} from '../../../../base/fs/files.js';
import {podRef} from '../../../contract/pod-ref.js';
import {localDeviceMap} from '../block/local-device.js';
import {mapDevice} from '../block/map-device.js';
import {reportMapped} from '../block/report-mapped.js';
import {withDeviceLock} from '../devices/device-mounts.js';
import {VolumeStepError} from '../volume-step-error.js';
import {isForOnePod} from '../is-for-one-pod.js';
import {expandOnNode} from './expand-on-node.js';
import type {PodVolume, VolumePlugin} from './volume-plugin.js';

/** Plugin for block devices of the node that containers get as devices, by PersistentVolumes with volumeMode Block (local). */
export const localBlockVolume: VolumePlugin<LocalVolumeSource> = {
  name: 'kubernetes.io/local-volume',
  readOnly: false,
  isBlock: true,
  path: (node, volume) => localDeviceMap(node, podRef(volume.pod).uid, volume.name).linkPath,
  setUp: async (host, volume, signal) => {
    await withDeviceLock(host.node, volume.name, signal, async () => {
      const {uid} = podRef(volume.pod);
      const map = localDeviceMap(host.node, uid, volume.name);
      await requireExclusive(volume, uid, map.globalDir);
      await mapDevice(await findDevice(volume.source.path), map, host);
      reportMapped(host, volume, map);
    });
  },
  // Containers see the size of the device.
  expand: async (host, volume, options) => {
    const expand = async (): Promise<void> => undefined;
    return await expandOnNode(host, volume, {plugin: localBlockVolume.name, options, expand});
  },
};

/** Rejects a volume for one pod that another pod has (IsVolumeMountedElsewhere). */
async function requireExclusive(
  volume: PodVolume<LocalVolumeSource>,
  uid: string,
  globalDir: string,
): Promise<void> {
  if (!isForOnePod(volume) || (await listNames(globalDir)).every((name) => name === uid)) return;
  throw new VolumeStepError(
    'MapVolume.SetUpDevice failed',
    'volume uses the ReadWriteOncePod access mode and is already in use by another pod',
  );
}

/** Returns the real path of a block device. */
async function findDevice(path: string): Promise<string> {
  const real = await withFileErrors('reading', path, () => realpath(path)).catch((cause: unknown) => {
    rethrowUnexpected(cause);
    const hint = cause instanceof SystemError ? cause.hint : undefined;
    throw new VolumeStepError('MapVolume.EvalHostSymlinks failed', messageOf(cause), {cause, hint});
  });
  if ((await withFileErrors('reading', real, () => stat(real))).isBlockDevice()) return real;
  throw new VolumeStepError(
    'MapVolume.MapBlockVolume failed',
    `${JSON.stringify(path)} is not a block device`,
    {
      hint: 'set spec.local.path of the PersistentVolume to a device such as /dev/sdb, or its volumeMode to Filesystem',
    },
  );
}
