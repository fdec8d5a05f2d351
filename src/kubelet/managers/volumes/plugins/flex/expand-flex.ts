import {quantityValue} from '../../../../../api/quantity.js';
import {SystemError} from '../../../../../base/errors.js';
import type {ExpandOptions, NodeExpansion} from '../../../../contract/volumes/csi-volumes.js';
import {findBlockDevice} from '../../devices/block-device.js';
import {resizeFilesystem} from '../../devices/resize-filesystem.js';
import {expandOnNode} from '../expand-on-node.js';
import type {VolumeHost} from '../volume-plugin.js';
import {flexOptions, type FlexVolume} from './flex-options.js';
import {flexDeviceOf} from './flex-device.js';

/**
 * Has the driver enlarge a volume on the node, unless it says that it need not; enlarges the filesystem, if the driver leaves that to
 * the node (expander.go NodeExpand). `path` is that of the volume of the pod. Resolves and rejects like VolumePlugin.expand.
 */
export async function expandFlexVolume(
  host: VolumeHost,
  {volume, path}: {readonly volume: FlexVolume; readonly path: string},
  options: ExpandOptions,
): Promise<boolean> {
  const {driver} = volume.source;
  if (host.flex.capabilities(host.node, driver)?.requiresFSResize !== true) return true;
  const expand = async ({newSize, oldSize}: NodeExpansion, signal: AbortSignal): Promise<void> => {
    const device = await flexDeviceOf(host, {driver, name: volume.name});
    const sizes = [newSize, oldSize].map((size) => String(quantityValue(size)));
    const args = [flexOptions(volume), device, path, ...sizes];
    const found = await host.flex.find(host.node, driver, signal);
    if ((await found.call('expandfs', args, {signal})) !== undefined) return;
    await resizeFilesystem({device: await requireBlockDevice(device), path}, host.runTool, signal);
  };
  return await expandOnNode(host, volume, {plugin: driver, options, expand});
}

async function requireBlockDevice(device: string): Promise<string> {
  const found = device === '' ? undefined : await findBlockDevice(device);
  if (found !== undefined) return found;
  throw new SystemError(
    `ResizeFS.Resize - error checking format for device ${device}: it is not a block device`,
    {
      hint: 'let the FlexVolume driver answer "expandfs", or set "requiresFSResize": false in its capabilities',
    },
  );
}
