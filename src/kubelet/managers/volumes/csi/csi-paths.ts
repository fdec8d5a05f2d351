import {createHash} from 'node:crypto';
import {join} from 'node:path';
import {validatePathSegment} from '../../../../base/fs/files.js';
import {podDir, type NodeFacts} from '../../../contract/node-facts.js';

/** Directory of CSI volumes below that of a pod's volumes. */
export const CSI_VOLUMES = 'kubernetes.io~csi';
/** Name of the file with the identity of a volume, beside its mount point. */
export const VOLUME_DATA = 'vol_data.json';

/** A volume of a driver. */
export interface VolumeKey {
  readonly driver: string;
  readonly handle: string;
}

/** Returns the directory of all staged volumes, by driver. */
export function stagedDir({rootDir}: Pick<NodeFacts, 'rootDir'>): string {
  return join(rootDir, 'plugins/kubernetes.io/csi');
}

/** Returns the path at which a volume is staged for all pods (makeDeviceMountPath). Throws SystemError for an invalid driver. */
export function stagingPath(node: Pick<NodeFacts, 'rootDir'>, {driver, handle}: VolumeKey): string {
  return join(stagedDir(node), validatePathSegment('CSI driver', driver), sha256(handle), 'globalmount');
}

/** Returns the directory of a volume of a pod, in which the driver makes the mount point. Throws SystemError for an invalid name. */
export function publishDir(node: Pick<NodeFacts, 'rootDir'>, uid: string, name: string): string {
  return join(podDir(node, uid), 'volumes', CSI_VOLUMES, validatePathSegment('volume name', name));
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
