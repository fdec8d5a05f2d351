import type {Pod} from '../../../api/types/v1-pod.js';
import type {Volume} from '../../../api/types/v1-volumes.js';
import {usedVolumes} from '../../../api/used-volumes.js';
import {SystemError} from '../../../base/errors.js';
import {withFileErrors} from '../../../base/fs/files.js';
import type {ApiObjects} from '../../contract/api-objects.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import type {DriverUsage} from '../../contract/volumes/driver-usage.js';
import type {PodVolumeState} from '../../contract/volumes/pod-volume-state.js';
import type {CsiVolumes} from '../../contract/volumes/csi-volumes.js';
import {podRef} from '../../contract/pod-ref.js';
import {csiDeviceMap} from './csi/csi-paths.js';
import {readDeviceSize} from './devices/block-device.js';
import {systemFlexDrivers, type FlexDrivers} from './plugins/flex/flex-drivers.js';
import {resolveVolume, type ResolvedVolume} from './plugins/resolve-volume.js';

/** Inputs of {@link listVolumes} besides the pod. */
export interface ListVolumesOptions {
  readonly node: Pick<NodeFacts, 'rootDir' | 'volumePluginDir'>;
  readonly objects: ApiObjects;
  /** Names of the pod's volumes that this process has mounted. */
  readonly isMounted: (name: string) => boolean;
  /** Volumes of CSI drivers, which measure them. */
  readonly csi?: CsiVolumes | undefined;
  /** Drivers of FlexVolumes; those of this machine by default. */
  readonly flex?: FlexDrivers;
}

/** Returns the volumes that containers of the pod use, with their plugins and claims. */
export function listVolumes(pod: Pod, options: ListVolumesOptions): readonly PodVolumeState[] {
  return usedVolumes(pod).map((volume) => {
    const {name} = volume;
    const claim = claimOf(pod, volume);
    return {name, ...resolved(pod, volume, options), claim, isMounted: options.isMounted(name)};
  });
}

/** Returns the plugin and the path of a volume; nothing if it has no plugin. */
function resolved(
  pod: Pod,
  volume: Volume,
  {node, objects, csi, flex = systemFlexDrivers}: ListVolumesOptions,
): Pick<PodVolumeState, 'plugin' | 'path' | 'measure' | 'isFilesystem'> {
  try {
    const found = resolveVolume(pod, volume, objects);
    const path = found.path(node);
    const isFilesystem = found.isMeasured({node, flex});
    const deviceDir = found.isBlock ? csiDeviceMap(node, podRef(pod).uid, found.name).globalPath : '';
    const measured = measureOf(found, path, {csi, deviceDir});
    return {plugin: found.plugin, path, ...measured, ...(isFilesystem && {isFilesystem})};
  } catch (error) {
    // The type is not supported, or the claim cannot be used now.
    if (error instanceof SystemError) return {plugin: undefined, path: ''};
    throw error;
  }
}

/** Plugins whose devices are measured; a kubelet does not measure those of Fibre Channel. */
const MEASURED_DEVICES: ReadonlySet<string> = new Set(['kubernetes.io/local-volume', 'kubernetes.io/iscsi']);

/** Returns how a volume is measured; `deviceDir` is the directory of the device of a CSI driver's block volume. */
function measureOf(
  {driver, isBlock, name, plugin}: ResolvedVolume,
  path: string,
  {csi, deviceDir}: {readonly csi: CsiVolumes | undefined; readonly deviceDir: string},
): Pick<PodVolumeState, 'measure'> {
  if (csi !== undefined && driver !== undefined)
    return {
      measure: async () => await (isBlock ? csi.measure(deviceDir, name) : csi.measure(path, undefined)),
    };
  if (!isBlock) return {};
  return {measure: async () => (MEASURED_DEVICES.has(plugin) ? await measureDevice(path) : undefined)};
}

/** Returns the usage of a block device, of which only the size is known (metricsBlock). Rejects with SystemError. */
async function measureDevice(path: string): Promise<DriverUsage> {
  const capacityBytes = await withFileErrors('reading the size of', path, async () => readDeviceSize(path));
  const inodes = {inodesUsed: 0n, inodesFree: 0n, inodes: 0n};
  return {...inodes, usedBytes: 0n, availableBytes: 0n, capacityBytes};
}

/** Returns the name of the volume's claim; that of an ephemeral volume is derived from the pod (VolumeClaimName). */
function claimOf({metadata}: Pod, {name, persistentVolumeClaim, ...others}: Volume): string | undefined {
  if (persistentVolumeClaim !== undefined) return persistentVolumeClaim.claimName;
  return 'ephemeral' in others ? `${metadata.name}-${name}` : undefined;
}
