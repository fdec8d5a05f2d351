import {rename, rmdir, unlink, type FileHandle} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import {SystemError} from '../errors.js';
import {fdPath, mountIdOf, OPEN_DIRECTORY, openDirectory, readDirectoryEntries} from './file-handles.js';
import {ifPresent, withFileErrors} from './files.js';
import {shellQuote} from '../shell-quote.js';

/** Deeper directories are moved up first, so that a hostile tree cannot exhaust the open files. */
const MAX_DEPTH = 64;

/** Number of entries of a directory to remove at a time. */
const PORTION = 1000;

/** State of one removal. */
interface Removal {
  /** ID of the mount that the whole tree must be on. */
  readonly mountId: string;
  /** Path of the tree's root through the fd of its parent. */
  readonly root: string;
  /** Number of directories that were moved up. */
  moved: number;
}

/**
 * Removes a directory tree; does nothing if it does not exist. It never follows a symbolic link and never crosses a
 * mount point, even if the tree changes meanwhile: every directory is opened and checked before anything in it is
 * removed. A mount point in the tree ends the removal with an error and stays intact. Rejects with SystemError.
 */
export async function removeTree(path: string): Promise<void> {
  // Only the parent of the tree may be a link.
  const parent = await openDirectory(dirname(path), dirname(path), OPEN_DIRECTORY);
  if (parent === undefined) return;
  try {
    const root = `${fdPath(parent)}/${basename(path)}`;
    const removal = {mountId: mountIdOf(parent), root, moved: 0};
    await removeDirectory(Buffer.from(root), path, removal, 0);
  } finally {
    await parent.close();
  }
}

/** Removes one directory; `path` is resolved by the kernel, `shown` is used in messages. */
async function removeDirectory(path: Buffer, shown: string, removal: Removal, depth: number): Promise<void> {
  const directory = await openDirectory(path, shown);
  if (directory === undefined) return;
  try {
    if (mountIdOf(directory) !== removal.mountId)
      throw new SystemError(`removing ${JSON.stringify(shown)}: something is mounted there`, {
        hint: `unmount it first: umount ${shellQuote(shown)}`,
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
    const entries = await withFileErrors('reading', shown, () => readDirectoryEntries(directory, PORTION));
    for (const entry of entries) {
      const path = Buffer.concat([Buffer.from(`${base}/`), entry.name]);
      const shownEntry = join(shown, entry.name.toString());
      if (!entry.isDirectory()) await removing(shownEntry, () => unlink(path));
      else if (depth < MAX_DEPTH) await removeDirectory(path, shownEntry, removal, depth + 1);
      else await moveUp(path, shownEntry, removal);
    }
    // Directories that were moved up are in the root now; another round removes them.
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
