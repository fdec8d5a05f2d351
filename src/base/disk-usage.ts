import {lstat, readdir, type FileHandle} from 'node:fs/promises';
import type {Stats} from 'node:fs';
import {hasErrno, SystemError} from './errors.js';
import {fdPath, mountIdOf, openDirectory} from './file-handles.js';
import {ifPresent, withFileErrors} from './files.js';

/** The unit of st_blocks, whatever the file system's own is (stat(2)). */
const BLOCK_BYTES = 512;

/** A directory that is open on every level of the walk takes one of the process's open files. */
const MAX_DEPTH = 256;

/** How far a measuring goes. */
export interface UsageBounds {
  /** It ends once it has found more. */
  readonly bytes: bigint;
  /** It ends after so many files and directories. */
  readonly entries: number;
}

interface Walk {
  readonly bounds: UsageBounds;
  readonly mountId: string;
  /** Files with several names, which count once: `<device>:<inode>`. */
  readonly counted: Set<string>;
  bytes: bigint;
  entries: number;
}

/**
 * How much disk a directory takes with all that is in it, in bytes, as du(1) counts: what is allocated, each file once.
 * It follows no link and enters no mount, whoever changes the tree meanwhile; what vanishes is left out. Whatever the
 * bounds and a depth of 256 leave out is not counted, so that the result may be less than what there is, never more. 0
 * without the directory. Rejects with SystemError.
 */
export async function diskUsage(path: string, bounds: UsageBounds): Promise<bigint> {
  const root = await openDirectory(path, path);
  if (root === undefined) return 0n;
  try {
    const walk = {bounds, mountId: await mountIdOf(root), counted: new Set<string>(), bytes: 0n, entries: 0};
    count(await root.stat(), walk);
    await addEntries(root, path, walk, 0);
    return walk.bytes;
  } finally {
    await root.close();
  }
}

function count(stats: Stats, walk: Walk): void {
  walk.entries++;
  const hasNames = stats.nlink > 1 && !stats.isDirectory();
  const file = `${stats.dev}:${stats.ino}`;
  if (hasNames && walk.counted.has(file)) return;
  if (hasNames) walk.counted.add(file);
  walk.bytes += BigInt(stats.blocks * BLOCK_BYTES);
}

function isEnough({bytes, entries, bounds}: Walk): boolean {
  return bytes > bounds.bytes || entries >= bounds.entries;
}

async function addEntries(directory: FileHandle, shown: string, walk: Walk, depth: number): Promise<void> {
  const base = fdPath(directory);
  for (const name of await readdir(base, {encoding: 'buffer'})) {
    if (isEnough(walk)) return;
    const path = Buffer.concat([Buffer.from(`${base}/`), name]);
    await addEntry(path, `${shown}/${name.toString()}`, walk, depth);
  }
}

async function addEntry(path: Buffer, shown: string, walk: Walk, depth: number): Promise<void> {
  const stats = await withFileErrors('looking at', shown, () => ifPresent(() => lstat(path)));
  if (stats === undefined) return;
  if (!stats.isDirectory()) {
    count(stats, walk);
    return;
  }
  if (depth >= MAX_DEPTH) return;
  const directory = await openStillDirectory(path, shown);
  if (directory === undefined) return;
  try {
    if ((await mountIdOf(directory)) !== walk.mountId) return;
    count(await directory.stat(), walk);
    await addEntries(directory, shown, walk, depth + 1);
  } finally {
    await directory.close();
  }
}

/** Undefined for what has vanished, or become something else since it was looked at. */
async function openStillDirectory(path: Buffer, shown: string): Promise<FileHandle | undefined> {
  try {
    return await openDirectory(path, shown);
  } catch (error) {
    if (error instanceof SystemError && hasErrno(error.cause, 'ELOOP', 'ENOTDIR')) return undefined;
    throw error;
  }
}
