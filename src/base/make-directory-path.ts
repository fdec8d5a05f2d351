import {constants} from 'node:fs';
import {mkdir, open, rmdir, type FileHandle} from 'node:fs/promises';
import {basename, dirname} from 'node:path';
import {hasErrno} from './errors.js';
import {fdPath, O_PATH, OPEN_DIRECTORY} from './file-handles.js';
import {ifPresent, withFile, withFileErrors} from './files.js';

/**
 * Makes the directory and those above it that are missing, all or none, each with this mode whatever the umask is. Unlike
 * Node.js' recursive mkdir it says what is wrong with a full or read-only disk. Links in what is there already are
 * followed, as in any path of the node; from there on each name is made in the directory that was opened before it, so
 * that nobody who puts a link in the place of one has a mode changed or a directory made elsewhere. Rejects with
 * SystemError.
 */
export async function makeDirectoryPath(path: string, mode: number): Promise<void> {
  await withFileErrors('making the directory', path, async () => {
    const missing: string[] = [];
    let next = path;
    let place: FileHandle | undefined;
    while ((place = await ifPresent(() => open(next, O_PATH))) === undefined) {
      missing.unshift(basename(next));
      next = dirname(next);
    }
    try {
      await makeBelow(place, missing, mode);
    } finally {
      await place.close();
    }
  });
}

async function makeBelow(
  parent: FileHandle,
  [name, ...deeper]: readonly string[],
  mode: number,
): Promise<void> {
  if (name === undefined) return;
  const path = `${fdPath(parent)}/${name}`;
  const isMade = await makeOne(path, mode);
  // What somebody else has just put there is theirs, and the end of it is for the caller to look at.
  if (!isMade && deeper.length === 0) return;
  try {
    await withFile(path, OPEN_DIRECTORY | constants.O_NOFOLLOW, 0, async (directory) => {
      if (isMade) await directory.chmod(mode);
      await makeBelow(directory, deeper, mode);
    });
  } catch (error) {
    // The first failure is what matters; what can't be taken back is empty and found by the next run.
    if (isMade) await rmdir(path).catch(() => undefined);
    throw error;
  }
}

/** True when it was made, false when something was there. */
async function makeOne(path: string, mode: number): Promise<boolean> {
  try {
    await mkdir(path, {mode});
    return true;
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return false;
    throw error;
  }
}
