import {podRef} from '../../../contract/pod-ref.js';
import type {ControllerAttachments} from '../../../contract/volumes/csi-volumes.js';
import type {PodVolume, VolumeHost} from './volume-plugin.js';

/** Returns the volumes that controllers attach to the node; undefined if the node attaches them itself. */
export function controllerAttachments({csi}: Pick<VolumeHost, 'csi'>): ControllerAttachments | undefined {
  return csi?.attachesVolumes === true ? csi.attachments : undefined;
}

/**
 * Reports a volume as in use by its pod, and waits until a controller has attached it (VerifyControllerAttachedVolume). Resolves with
 * the device that the controller names, which can be empty, and at once with undefined if the node attaches volumes itself. Rejects
 * with the signal's reason.
 */
export async function untilAttached(
  host: Pick<VolumeHost, 'csi'>,
  {pod, name, specName = name}: PodVolume<unknown>,
  {uniqueName, plugin}: {readonly uniqueName: string; readonly plugin: string},
  signal: AbortSignal,
): Promise<string | undefined> {
  const used = {uid: podRef(pod).uid, volume: specName, plugin};
  return await controllerAttachments(host)?.untilAttached(uniqueName, used, signal);
}
