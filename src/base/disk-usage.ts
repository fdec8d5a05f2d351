import {lstat, type FileHandle} from 'node:fs/promises';
import type {Stats} from 'node:fs';
import {isSystemCallError, SystemError} from './errors.js';
import {fdPath, mountIdOf, openDirectory, someEntries} from './file-handles.js';
import {withFileErrors} from './files.js';

/** The unit of st_blocks, whatever the file system's own is (stat(2)). */
const BLOCK_BYTES = 512;

/** A directory that is open on every level of the walk takes one of the process's open files. */
const MAX_DEPTH = 256;

/** How far a measuring goes. */
export interface UsageBounds {
  /** It ends once it has found more. */
  readonly bytes: bigint;
  /** It looks at so many files and directories, and reads no more names. */
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
 * bounds and a depth of 256 leave out is not counted, nor is what can't be looked at, such as a mount whose server is
 * gone: the result may be less than what there is, never more. 0 without the directory. Rejects with SystemError when
 * the directory itself can't be read.
 */
export async function diskUsage(path: string, bounds: UsageBounds): Promise<bigint> {
  const root = await openDirectory(path, path);
  if (root === undefined) return 0n;
  try {
    return await withFileErrors('measuring', path, async () => {
      const mountId = await mountIdOf(root);
      const walk = {bounds, mountId, counted: new Set<string>(), bytes: 0n, entries: 1};
      count(await root.stat(), walk);
      await addEntries(root, walk, 0);
      return walk.bytes;
    });
  } finally {
    await root.close();
  }
}

function count(stats: Stats, walk: Walk): void {
  const hasNames = stats.nlink > 1 && !stats.isDirectory();
  const file = `${stats.dev}:${stats.ino}`;
  if (hasNames && walk.counted.has(file)) return;
  if (hasNames) walk.counted.add(file);
  walk.bytes += BigInt(stats.blocks * BLOCK_BYTES);
}

async function addEntries(directory: FileHandle, walk: Walk, depth: number): Promise<void> {
  const entries = await someEntries(directory, walk.bounds.entries - walk.entries);
  walk.entries += entries.length;
  for (const {name} of entries) {
    if (walk.bytes > walk.bounds.bytes) return;
    const path = Buffer.concat([Buffer.from(`${fdPath(directory)}/`), name]);
    try {
      await addEntry(path, walk, depth);
    } catch (error) {
      // Whatever a container left there, and also what vanishes: a kubelet goes on without.
      if (!(error instanceof SystemError || isSystemCallError(error))) throw error;
    }
  }
}

async function addEntry(path: Buffer, walk: Walk, depth: number): Promise<void> {
  const stats = await lstat(path);
  if (!stats.isDirectory()) {
    count(stats, walk);
    return;
  }
  if (depth >= MAX_DEPTH) return;
  const directory = await openDirectory(path, path.toString());
  if (directory === undefined) return;
  try {
    if ((await mountIdOf(directory)) !== walk.mountId) return;
    count(await directory.stat(), walk);
    await addEntries(directory, walk, depth + 1);
  } finally {
    await directory.close();
  }
}
