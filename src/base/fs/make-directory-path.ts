import {constants} from 'node:fs';
import {mkdir, open, rmdir, type FileHandle} from 'node:fs/promises';
import {basename, dirname} from 'node:path';
import {hasErrno} from '../errors.js';
import {fdPath, O_PATH, OPEN_DIRECTORY} from './file-handles.js';
import {ifPresent, withFile, withFileErrors} from './files.js';

/**
 * Creates the directory and its missing parents, all or none, each with this mode regardless of the umask. Unlike the
 * recursive mkdir of Node.js, it reports a full or read-only disk. Links in the existing part of the path are followed;
 * from there on each directory is created relative to the one opened before, so that a link put in its place cannot
 * redirect the creation or the change of mode. Resolves with true if this call created it. Rejects with SystemError.
 */
export async function makeDirectoryPath(path: string, mode: number): Promise<boolean> {
  return await withFileErrors('creating the directory', path, async () => {
    const missing: string[] = [];
    let next = path;
    let place: FileHandle | undefined;
    while ((place = await ifPresent(() => open(next, O_PATH))) === undefined) {
      missing.unshift(basename(next));
      next = dirname(next);
    }
    try {
      return await makeBelow(place, missing, mode);
    } finally {
      await place.close();
    }
  });
}

async function makeBelow(
  parent: FileHandle,
  [name, ...deeper]: readonly string[],
  mode: number,
): Promise<boolean> {
  if (name === undefined) return false;
  const path = `${fdPath(parent)}/${name}`;
  const isMade = await makeOne(path, mode);
  // Another process created it in the meantime; the caller checks the final component.
  if (!isMade && deeper.length === 0) return false;
  try {
    return await withFile(path, OPEN_DIRECTORY | constants.O_NOFOLLOW, 0, async (directory) => {
      if (isMade) await directory.chmod(mode);
      return (await makeBelow(directory, deeper, mode)) || isMade;
    });
  } catch (error) {
    // The first failure matters; a directory that cannot be removed is empty and found by the next run.
    if (isMade) await rmdir(path).catch(() => undefined);
    throw error;
  }
}

/** Returns true if the directory was created, false if something existed at the path. */
async function makeOne(path: string, mode: number): Promise<boolean> {
  try {
    await mkdir(path, {mode});
    return true;
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return false;
    throw error;
  }
}
