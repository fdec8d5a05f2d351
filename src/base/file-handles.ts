import {constants} from 'node:fs';
import {open, readFile, type FileHandle} from 'node:fs/promises';
import {SystemError} from './errors.js';
import {ifPresent, withFileErrors} from './files.js';

/** For opening directories. */
export const OPEN_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY;

/** A path to what is open that the kernel resolves without looking at names: nobody can put something else there. */
export function fdPath({fd}: FileHandle): string {
  return `/proc/self/fd/${fd}`;
}

/**
 * Opens a directory for a walk below it; undefined when it doesn't exist. Unless the flags say otherwise it must not be
 * a symbolic link itself. `shown` is how a person knows the path. Rejects with SystemError.
 */
export async function openDirectory(
  path: string | Buffer,
  shown: string,
  flags = OPEN_DIRECTORY | constants.O_NOFOLLOW,
): Promise<FileHandle | undefined> {
  return await withFileErrors('opening the directory', shown, () => ifPresent(() => open(path, flags)));
}

/** Which mount an open file is on: also tells bind mounts of one file system apart. */
export async function mountIdOf({fd}: FileHandle): Promise<string> {
  const info = await readFile(`/proc/self/fdinfo/${fd}`, 'utf8');
  const id = /^mnt_id:\s*(\d+)$/m.exec(info)?.[1];
  if (id === undefined) throw new SystemError(`reading "/proc/self/fdinfo/${fd}": no mnt_id in it`);
  return id;
}
