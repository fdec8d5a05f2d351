import {attachLoopDisk, hasLoopDevices, type LoopDisk} from '../../base/loop-disk.js';

/** Cases with a disk, whose device replaces `@DEVICE@`. */
const WITH_DISK: ReadonlySet<string> = new Set(['csi-block', 'local-block-pv']);

/** Reports whether this machine can play a case. */
export function canPlay(name: string): boolean {
  return hasLoopDevices || !WITH_DISK.has(name);
}

/** Attaches the disk of a case; undefined for a case without one. */
export async function attachDisk(name: string): Promise<LoopDisk | undefined> {
  return WITH_DISK.has(name) ? await attachLoopDisk(1) : undefined;
}
