import {rename, rmdir, unlink, type FileHandle} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import {SystemError} from './errors.js';
import {fdPath, mountIdOf, OPEN_DIRECTORY, openDirectory, someEntries} from './file-handles.js';
import {ifPresent, withFileErrors} from './files.js';
import {shellWord} from './shell-word.js';

/** Deeper directories are moved up first, so that a hostile tree can't use up the open files. */
const MAX_DEPTH = 64;

/** A directory with more is gone through in portions of so many. */
const PORTION = 1000;

/** What is the same for a whole removal. */
interface Removal {
  /** The mount that all of the tree must be on. */
  readonly mountId: string;
  /** A path to the tree's root that the kernel resolves without looking at names. */
  readonly root: string;
  /** Counts the directories that were moved up. */
  moved: number;
}

/**
 * Removes a directory with all that is in it; without one it does nothing. It never follows a symbolic link and never
 * goes through a mount point, whoever changes the tree meanwhile: every directory is opened as such and looked at
 * before anything in it is touched. A mount point in the tree ends the removal with an error, and what is mounted
 * there stays as it is. Rejects with SystemError.
 */
export async function removeTree(path: string): Promise<void> {
  // Only the directory above the tree may be a link.
  const parent = await openDirectory(dirname(path), dirname(path), OPEN_DIRECTORY);
  if (parent === undefined) return;
  try {
    const root = `${fdPath(parent)}/${basename(path)}`;
    const removal = {mountId: await mountIdOf(parent), root, moved: 0};
    await removeDirectory(Buffer.from(root), path, removal, 0);
  } finally {
    await parent.close();
  }
}

/** `path` is where the kernel finds it, `shown` what a person knows it by. */
async function removeDirectory(path: Buffer, shown: string, removal: Removal, depth: number): Promise<void> {
  const directory = await openDirectory(path, shown);
  if (directory === undefined) return;
  try {
    if ((await mountIdOf(directory)) !== removal.mountId)
      throw new SystemError(`removing ${JSON.stringify(shown)}: something is mounted there`, {
        hint: `unmount it first: umount ${shellWord(shown)}`,
      });
    await emptyDirectory(directory, shown, removal, depth);
  } finally {
    await directory.close();
  }
  await removing(shown, () => rmdir(path));
}

async function emptyDirectory(
  directory: FileHandle,
  shown: string,
  removal: Removal,
  depth: number,
): Promise<void> {
  const base = fdPath(directory);
  let isLast: boolean;
  do {
    const movedBefore = removal.moved;
    const entries = await withFileErrors('reading', shown, () => someEntries(directory, PORTION));
    for (const entry of entries) {
      const path = Buffer.concat([Buffer.from(`${base}/`), entry.name]);
      const shownEntry = join(shown, entry.name.toString());
      if (!entry.isDirectory()) await removing(shownEntry, () => unlink(path));
      else if (depth < MAX_DEPTH) await removeDirectory(path, shownEntry, removal, depth + 1);
      else await moveUp(path, shownEntry, removal);
    }
    // What was moved up has come to the root: another round finds it there.
    isLast = entries.length < PORTION && removal.moved === movedBefore;
  } while (!isLast);
}

async function moveUp(path: Buffer, shown: string, removal: Removal): Promise<void> {
  removal.moved++;
  await removing(shown, () => rename(path, `${removal.root}/.moved-${process.pid}-${removal.moved}`));
}

async function removing(shown: string, act: () => Promise<void>): Promise<void> {
  await withFileErrors('removing', shown, () => ifPresent(act));
}
