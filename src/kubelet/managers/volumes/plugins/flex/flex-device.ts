import {findMountAt} from '../../mounter.js';
import type {VolumeHost} from '../volume-plugin.js';
import {flexDevicePath, type FlexVolumeDir} from './flex-paths.js';

/** Returns the device that the driver has named, or of the mount for all pods, if another process has mounted it; empty for none. */
export async function flexDeviceOf(
  {node, mounter, flex}: Pick<VolumeHost, 'node' | 'mounter' | 'flex'>,
  volume: FlexVolumeDir,
): Promise<string> {
  const path = flexDevicePath(node, volume);
  const known = flex.devices.get(path);
  if (known !== undefined) return known;
  const mount = await findMountAt(path, mounter);
  return mount?.source.startsWith('/dev/') === true ? mount.source : '';
}
