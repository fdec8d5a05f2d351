import {createHash} from 'node:crypto';
import {join} from 'node:path';
import {MAX_SEGMENT_LENGTH, validatePathSegment} from '../../../../base/fs/files.js';
import {podDir, type NodeFacts} from '../../../contract/node-facts.js';
import {deviceMap, POD_DEVICES, type DeviceMap} from '../block/block-paths.js';

/** Directory of CSI volumes below that of a pod's volumes. */
export const CSI_VOLUMES = 'kubernetes.io~csi';
/** Name of the file with the identity of a volume, beside its mount point. */
export const VOLUME_DATA = 'vol_data.json';

/** A volume of a driver. */
export interface VolumeKey {
  readonly driver: string;
  readonly handle: string;
  /** Name of the PersistentVolume of a block volume, by which its directories are named; undefined for a file system. */
  readonly blockName?: string | undefined;
}

/** Returns the directory of all staged volumes, by driver. */
export function stagedDir({rootDir}: Pick<NodeFacts, 'rootDir'>): string {
  return join(rootDir, 'plugins/kubernetes.io/csi');
}

/** Returns the path at which a volume is staged for all pods (makeDeviceMountPath). Throws SystemError for an invalid driver. */
export function stagingPath(
  node: Pick<NodeFacts, 'rootDir'>,
  {driver, handle, blockName}: VolumeKey,
): string {
  if (blockName !== undefined) return blockPaths(node, blockName).staging;
  return join(stagedDir(node), validatePathSegment('CSI driver', driver), sha256(handle), 'globalmount');
}

/** Returns the directory of a volume of a pod, in which the driver makes the mount point. Throws SystemError for an invalid name. */
export function publishDir(node: Pick<NodeFacts, 'rootDir'>, uid: string, name: string): string {
  return join(podDir(node, uid), 'volumes', CSI_VOLUMES, volumeDirName(name));
}

/**
 * Returns the name of the directory of a volume: that of a migrated volume of a pod can be a URI, such as `/subscriptions/…`
 * (EscapeQualifiedName). Throws SystemError for a name that no directory can have.
 */
export function volumeDirName(name: string): string {
  const escaped = name.replaceAll('/', '~');
  const isPossible = !/^\.{0,2}$|\0/.test(escaped) && Buffer.byteLength(escaped) <= MAX_SEGMENT_LENGTH;
  return isPossible ? escaped : validatePathSegment('volume name', name);
}

/** Directories of a block volume, below that of all of them (csi_block.go). */
export interface BlockPaths {
  /** Directory of the volume, with the directories `dev` and `data`. */
  readonly directory: string;
  /** Directory with a bind mount of the device for each pod, by UID. */
  readonly devices: string;
  /** Directory with the identity of the volume. */
  readonly data: string;
  readonly staging: string;
  /** Directory in which the driver makes a device for each pod, by UID. */
  readonly publish: string;
}

/** Returns the directory of all block volumes. */
export function blocksDir(node: Pick<NodeFacts, 'rootDir'>): string {
  return join(stagedDir(node), POD_DEVICES);
}

/** Returns the directories of a block volume. Throws SystemError for an invalid name. */
export function blockPaths(node: Pick<NodeFacts, 'rootDir'>, blockName: string): BlockPaths {
  const name = validatePathSegment('volume name', blockName);
  const directory = join(blocksDir(node), name);
  return {
    directory,
    devices: join(directory, 'dev'),
    data: join(directory, 'data'),
    staging: join(blocksDir(node), 'staging', name),
    publish: join(blocksDir(node), 'publish', name),
  };
}

/** Returns where the device of a block volume is mapped for a pod. Throws SystemError for an invalid name. */
export function csiDeviceMap(node: Pick<NodeFacts, 'rootDir'>, uid: string, name: string): DeviceMap {
  return deviceMap(node, {globalDir: blockPaths(node, name).devices, plugin: CSI_VOLUMES, uid, name});
}

/** Returns the name of the VolumeAttachment of a volume (getAttachmentName). */
export function attachmentName({driver, handle}: VolumeKey, nodeName: string): string {
  return `csi-${sha256(`${handle}${driver}${nodeName}`)}`;
}

/** Returns the handle of a volume in the spec of a pod (makeVolumeHandle). */
export function ephemeralHandle(uid: string, name: string): string {
  return `csi-${sha256(`${uid}${name}`)}`;
}

/** Returns the name of a volume in the status of the node (GetUniqueVolumeName). */
export function uniqueVolumeName({driver, handle}: VolumeKey): string {
  return `kubernetes.io/csi/${driver}^${handle}`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
