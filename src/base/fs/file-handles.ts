import {constants, readFileSync} from 'node:fs';
import {open, opendir, type FileHandle} from 'node:fs/promises';
import {SystemError} from '../errors.js';
import {ifPresent, withFileErrors} from './files.js';

/**
 * Opens a path without opening the object itself: no FIFO blocks, no device wakes (open(2)). Node.js does not define
 * it.
 */
export const O_PATH = 0o10000000;

/** Flags to open a directory. */
export const OPEN_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY;

/** Returns a path to the open file that the kernel resolves without names, so that nothing can be put in its place. */
export function fdPath({fd}: FileHandle): string {
  return `/proc/self/fd/${fd}`;
}

/**
 * Opens a directory to walk it; resolves with undefined if it does not exist. By default it must not be a symbolic
 * link. `shown` is the path in messages. Rejects with SystemError.
 */
export async function openDirectory(
  path: string | Buffer,
  shown: string,
  flags = OPEN_DIRECTORY | constants.O_NOFOLLOW,
): Promise<FileHandle | undefined> {
  return await withFileErrors('opening the directory', shown, () => ifPresent(() => open(path, flags)));
}

/** Number of names read at a time. */
const NAMES_AT_ONCE = 1000;

/** An entry of a directory; its name need not be valid UTF-8. */
export interface DirectoryEntry {
  readonly name: Buffer;
  isDirectory(): boolean;
}

/**
 * Returns at most `limit` entries of an open directory, so that a directory with millions of entries needs little
 * memory.
 */
export async function readDirectoryEntries(
  directory: FileHandle,
  limit: number,
): Promise<readonly DirectoryEntry[]> {
  const entries: DirectoryEntry[] = [];
  if (limit <= 0) return entries;
  // One character per byte: Bun does not report entry types for names in buffers.
  const encoding = 'latin1';
  const bufferSize = Math.min(limit, NAMES_AT_ONCE);
  for await (const entry of await opendir(fdPath(directory), {encoding, bufferSize})) {
    entries.push({name: Buffer.from(entry.name, encoding), isDirectory: () => entry.isDirectory()});
    if (entries.length === limit) break;
  }
  return entries;
}

/** Returns the ID of the mount that an open file is on; distinguishes bind mounts of one filesystem. */
export function mountIdOf({fd}: FileHandle): string {
  // Synchronous, because it never waits and walks call it for each directory.
  const info = readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8');
  const id = /^mnt_id:\s*(\d+)$/m.exec(info)?.[1];
  if (id === undefined) throw new SystemError(`reading "/proc/self/fdinfo/${fd}": no mnt_id in it`);
  return id;
}
