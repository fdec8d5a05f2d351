import {constants, type Stats} from 'node:fs';
import {chmod, chown, open, readdir, type FileHandle} from 'node:fs/promises';
import {join} from 'node:path';
import {fdPath, mountIdOf, O_PATH} from '../../base/file-handles.js';
import {ifPresent, withFile, withFileErrors} from '../../base/files.js';

/** Opens whatever it is, and a link as the link. */
const OPEN_AS_IT_IS = O_PATH | constants.O_NOFOLLOW;

const READ_WRITE = 0o660;
const READ_ONLY = 0o440;
/** What is made in a directory gets its group, which may look into it. */
const DIRECTORY = 0o2110;

/** What a volume's group may do. */
export interface VolumeOwnership {
  /** The pod's fsGroup; without one everything stays as it is. */
  readonly fsGroup: number | undefined;
  /** The group is given no right to write. */
  readonly readOnly: boolean;
}

/** The permission bits of something in a volume that belongs to an fsGroup (volume_linux.go changeFilePermission). */
export function groupMode(mode: number, isDirectory: boolean, readOnly: boolean): number {
  return (mode & 0o7777) | (readOnly ? READ_ONLY : READ_WRITE) | (isDirectory ? DIRECTORY : 0);
}

/**
 * Gives a volume with all that is in it to the pod's fsGroup (SetVolumeOwnership): what is in a directory first, so that
 * the root is changed last. Symbolic links are given away themselves and never followed, and what is mounted in the
 * volume is left alone. Rejects with SystemError.
 */
export async function setVolumeOwnership(path: string, ownership: VolumeOwnership): Promise<void> {
  const {fsGroup, readOnly} = ownership;
  if (fsGroup === undefined) return;
  await withFileErrors('changing the group of', path, () =>
    withFile(path, OPEN_AS_IT_IS, 0, async (root) => {
      await changeBelow(root, path, {fsGroup, readOnly, mountId: await mountIdOf(root)});
    }),
  );
}

interface Change {
  readonly fsGroup: number;
  readonly readOnly: boolean;
  /** The mount that all of the volume is on. */
  readonly mountId: string;
}

/** `shown` is what a person knows it by. */
async function changeBelow(item: FileHandle, shown: string, change: Change): Promise<void> {
  const stats = await item.stat();
  if (stats.isDirectory()) {
    const base = fdPath(item);
    for (const name of await withFileErrors('reading', shown, () => readdir(base, {encoding: 'buffer'})))
      await changeEntry(Buffer.concat([Buffer.from(`${base}/`), name]), join(shown, name.toString()), change);
  }
  await withFileErrors('changing the group of', shown, () => changeOne(item, stats, change));
}

async function changeEntry(path: Buffer, shown: string, change: Change): Promise<void> {
  const item = await withFileErrors('opening', shown, () => ifPresent(() => open(path, OPEN_AS_IT_IS)));
  if (item === undefined) return;
  try {
    if ((await mountIdOf(item)) === change.mountId) await changeBelow(item, shown, change);
  } finally {
    await item.close();
  }
}

/** By what is open and not by its name, which may mean something else by now. */
async function changeOne(item: FileHandle, stats: Stats, {fsGroup, readOnly}: Change): Promise<void> {
  await chown(fdPath(item), -1, fsGroup);
  if (!stats.isSymbolicLink())
    await chmod(fdPath(item), groupMode(stats.mode, stats.isDirectory(), readOnly));
}
