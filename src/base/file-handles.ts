import {constants} from 'node:fs';
import {open, opendir, readFile, type FileHandle} from 'node:fs/promises';
import {SystemError} from './errors.js';
import {ifPresent, withFileErrors} from './files.js';

/** Opens a place without touching what is there: no FIFO waits, no device wakes (open(2)). Node.js has no name for it. */
export const O_PATH = 0o10000000;

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

/** How many names are read at a time. */
const NAMES_AT_ONCE = 1000;

/** What one entry of a directory is, whose name need not be text. */
export interface NamedEntry {
  readonly name: Buffer;
  isDirectory(): boolean;
}

/**
 * At most `limit` of what is in an open directory, so that one with millions of names takes no more memory.
 */
export async function someEntries(directory: FileHandle, limit: number): Promise<readonly NamedEntry[]> {
  const entries: NamedEntry[] = [];
  if (limit <= 0) return entries;
  // One character a byte: Bun knows no types of entries with names in buffers.
  const encoding = 'latin1';
  const bufferSize = Math.min(limit, NAMES_AT_ONCE);
  for await (const entry of await opendir(fdPath(directory), {encoding, bufferSize})) {
    entries.push({name: Buffer.from(entry.name, encoding), isDirectory: () => entry.isDirectory()});
    if (entries.length === limit) break;
  }
  return entries;
}

/** Which mount an open file is on: also tells bind mounts of one file system apart. */
export async function mountIdOf({fd}: FileHandle): Promise<string> {
  const info = await readFile(`/proc/self/fdinfo/${fd}`, 'utf8');
  const id = /^mnt_id:\s*(\d+)$/m.exec(info)?.[1];
  if (id === undefined) throw new SystemError(`reading "/proc/self/fdinfo/${fd}": no mnt_id in it`);
  return id;
}
