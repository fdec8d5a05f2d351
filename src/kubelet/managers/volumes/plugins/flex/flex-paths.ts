import {basename, dirname, join} from 'node:path';
import {isPathSegment, listDirectoryNames, validatePathSegment} from '../../../../../base/fs/files.js';
import {podDir, type NodeFacts} from '../../../../contract/node-facts.js';
import type {PluginAttachment, PossibleNames} from '../../../../contract/volumes/csi-volumes.js';
import {listMountsBelow, type Mounter} from '../../mounter.js';
import {hasFlexMark} from './flex-marks.js';
import {flexDirectory, flexDriverOf} from './flex-name.js';

type RootFacts = Pick<NodeFacts, 'rootDir'>;

/** A volume in the directory of a pod, as far as its directories tell. */
export interface FlexVolumeDir {
  readonly driver: string;
  /** Name of the volume: that of the PersistentVolume, or in the spec of the pod. */
  readonly name: string;
}

/** Returns the directory of the mounts for all pods. */
function flexMountsDir({rootDir}: RootFacts): string {
  return join(rootDir, 'plugins/kubernetes.io/flexvolume');
}

/** Returns the path at which a device is mounted for all pods that have a volume of this name (getDeviceMountPath). */
export function flexDevicePath(node: RootFacts, {driver, name}: FlexVolumeDir): string {
  const mounts = join(flexMountsDir(node), driver, 'mounts');
  return join(mounts, validatePathSegment('volume name', name));
}

/** Returns the name of a volume in the status of the node (GetUniqueVolumeName). */
export function flexUniqueName({driver, name}: FlexVolumeDir): string {
  return `${driver}/${name}`;
}

/** Returns the path of the volume of a pod, in its directory. */
export function flexPodPath(directory: string, {driver, name}: FlexVolumeDir): string {
  return join(directory, 'volumes', flexDirectory(driver) ?? '', name);
}

/** Returns the path of the metadata of the volume of a pod, in its directory. */
export function flexMetadataPath(directory: string, {driver, name}: FlexVolumeDir): string {
  return join(directory, 'plugins', flexDirectory(driver) ?? '', name);
}

/** Returns the FlexVolumes with a directory or with metadata in the directory of a pod. Rejects with SystemError. */
export async function listFlexVolumes(directory: string): Promise<readonly FlexVolumeDir[]> {
  const found = new Map<string, FlexVolumeDir>();
  for (const folder of ['volumes', 'plugins'])
    for (const plugin of await listDirectoryNames(join(directory, folder))) {
      const driver = flexDriverOf(plugin);
      if (driver === undefined) continue;
      for (const name of (await listDirectoryNames(join(directory, folder, plugin))).filter(isPathSegment))
        found.set(`${plugin}/${name}`, {driver, name});
    }
  return [...found.values()];
}

/** Returns the unique names of the volumes that are mounted for all pods. Rejects with SystemError. */
export async function listMountedFlexVolumes(
  node: RootFacts,
  mounter: Mounter,
): Promise<readonly PossibleNames[]> {
  const paths = (await listMountsBelow(flexMountsDir(node), mounter)).map(({below}) => below);
  return paths.flatMap((path) => {
    const [, driver, name] = /^(.+)\/mounts\/([^/]+)$/.exec(path) ?? [];
    return driver === undefined || name === undefined ? [] : [[flexUniqueName({driver, name})]];
  });
}

/**
 * Returns the UIDs of the pods that need a volume: those with a directory for it, or that have claimed it, and have not released it.
 * Rejects with SystemError.
 */
export async function listFlexUsers(node: RootFacts, volume: FlexVolumeDir): Promise<readonly string[]> {
  const users: string[] = [];
  for (const uid of (await listDirectoryNames(join(node.rootDir, 'pods'))).filter(isPathSegment)) {
    const path = flexPodPath(podDir(node, uid), volume);
    const metadataDir = flexMetadataPath(podDir(node, uid), volume);
    if (await hasFlexMark(metadataDir, 'released')) continue;
    const isClaimed = await hasFlexMark(metadataDir, 'claimed');
    if (isClaimed || (await listDirectoryNames(dirname(path))).includes(basename(path))) users.push(uid);
  }
  return users;
}

/** Returns the volumes of pods that have a directory for a mount for all pods: they can be attached. Rejects with SystemError. */
export async function listAttachedFlexVolumes(node: RootFacts): Promise<readonly PluginAttachment[]> {
  const found: PluginAttachment[] = [];
  for (const podUid of (await listDirectoryNames(join(node.rootDir, 'pods'))).filter(isPathSegment))
    for (const volume of await listFlexVolumes(podDir(node, podUid))) {
      const path = flexDevicePath(node, volume);
      if ((await listDirectoryNames(dirname(path))).includes(basename(path)))
        found.push({uniqueName: flexUniqueName(volume), podUid});
    }
  return found;
}
