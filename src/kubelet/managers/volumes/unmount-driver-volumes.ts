import {join} from 'node:path';
import {SystemError} from '../../../base/errors.js';
import {listNames} from '../../../base/fs/files.js';
import type {CsiVolumes} from '../../contract/volumes/csi-volumes.js';
import {podDir} from '../../contract/node-facts.js';
import {CSI_VOLUMES} from './csi/csi-paths.js';
import {listPodCsiVolumes, readPodCsiVolume} from './csi/volume-data.js';
import {listOwnMounts, unmountBelow, type IsOwnMount} from './mounter.js';
import {flexDriverOf} from './plugins/flex/flex-name.js';
import {listFlexVolumes} from './plugins/flex/flex-paths.js';
import {unmountFlexVolumes, type UnmountFlexTools} from './plugins/flex/unmount-flex.js';

/** Directory of the sub-paths of volumes in that of a pod. */
export const SUB_PATHS = 'volume-subpaths';

/** Node, drivers and mounts that unmounting the volumes of drivers depends on. */
export interface UnmountDriverTools extends UnmountFlexTools {
  /** Undefined if the process cannot call CSI drivers. */
  readonly csi: CsiVolumes | undefined;
  /** Reports whether kcri itself created a mount in the directory of a pod. */
  readonly isPodMount: IsOwnMount;
}

/**
 * Has the volumes of CSI and FlexVolume drivers unmounted, after what uses them; nothing if there is a mount that neither kcri nor a
 * driver created. Rejects with SystemError, and with the signal's reason.
 */
export async function unmountDriverVolumes(uid: string, tools: UnmountDriverTools): Promise<void> {
  const {node, mounter, csi, isPodMount, signal} = tools;
  const directory = podDir(node, uid);
  if (csi === undefined) await requireNoCsiVolumes(tools, directory);
  const flexVolumes = await listFlexVolumes(directory);
  const hasCsi = csi !== undefined && (await listNames(join(directory, 'volumes', CSI_VOLUMES))).length > 0;
  if (hasCsi || flexVolumes.length > 0) {
    const isOwn: IsOwnMount = (mount, below) => isPodMount(mount, below) || isDriverMount(below);
    await listOwnMounts(directory, mounter, isOwn);
    await unmountBelow(join(directory, SUB_PATHS), mounter, (mount, below) =>
      isPodMount(mount, join(SUB_PATHS, below)),
    );
  }
  await csi?.unmountPod(directory, uid, signal);
  await unmountFlexVolumes(uid, flexVolumes, tools);
}

/** Reports whether a path below the directory of a pod is that of the mount of a driver, or in one. */
function isDriverMount(below: string): boolean {
  const [folder, plugin = '', name, mount] = below.split('/');
  if (folder !== 'volumes' || name === undefined) return false;
  return plugin === CSI_VOLUMES ? mount === 'mount' : flexDriverOf(plugin) !== undefined;
}

/** Rejects with SystemError if the pod has a volume of a CSI driver, which only the driver can unmount. */
async function requireNoCsiVolumes({node}: UnmountDriverTools, directory: string): Promise<void> {
  for (const volume of await listPodCsiVolumes(directory)) {
    const data = await readPodCsiVolume(node, volume);
    if (data === undefined) continue;
    throw new SystemError(
      `cannot unmount ${JSON.stringify(volume.path)}: its CSI driver "${data.driverName}" is registered with no kubelet`,
      {hint: 'start "kcri kubelet" or the kubelet that has mounted it, and delete the pod there'},
    );
  }
}
