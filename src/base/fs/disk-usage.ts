import {lstat, type FileHandle} from 'node:fs/promises';
import type {Stats} from 'node:fs';
import {isSystemCallError, SystemError} from '../errors.js';
import {fdPath, mountIdOf, openDirectory, readDirectoryEntries} from './file-handles.js';
import {withFileErrors} from './files.js';

/** Unit of st_blocks, whatever the block size of the filesystem is (stat(2)). */
const BLOCK_BYTES = 512;

/** Depth at which the walk stops: each level holds one open file. */
const MAX_DEPTH = 256;

/** Limits of a disk usage measurement. */
export interface DiskUsageLimits {
  /** The measurement stops once it exceeds this. */
  readonly maxBytes: bigint;
  /** Largest number of files and directories to examine. */
  readonly maxEntries: number;
}

interface Walk {
  readonly bounds: DiskUsageLimits;
  readonly signal: AbortSignal | undefined;
  readonly mountId: string;
  /** Files with several hard links, which count once: `<device>:<inode>`. */
  readonly counted: Set<string>;
  bytes: bigint;
  inodes: bigint;
  entries: number;
}

/** Disk usage of a directory tree. */
export interface DiskUsage {
  readonly bytes: bigint;
  /** Number of files and directories, each counted once. */
  readonly inodes: bigint;
}

/**
 * Returns the disk usage of a directory tree in bytes, as du(1) counts it: allocated blocks, each file once. It follows
 * no link and enters no mount, even if the tree changes meanwhile. Entries beyond the limits or a depth of 256, entries
 * that vanish and entries that cannot be examined are not counted, so the result may be too small but never too large.
 * Returns 0 if the directory does not exist. Rejects with SystemError if the directory itself cannot be read.
 */
export async function diskUsage(path: string, bounds: DiskUsageLimits): Promise<bigint> {
  return (await treeUsage(path, bounds)).bytes;
}

/**
 * Returns the disk usage of a directory tree like {@link diskUsage}, with the number of its inodes. Rejects with the signal's reason
 * too; the walk then ends.
 */
export async function treeUsage(
  path: string,
  bounds: DiskUsageLimits,
  signal?: AbortSignal,
): Promise<DiskUsage> {
  const root = await openDirectory(path, path);
  if (root === undefined) return {bytes: 0n, inodes: 0n};
  try {
    return await withFileErrors('measuring', path, async () => {
      const mountId = mountIdOf(root);
      const counted = new Set<string>();
      const walk: Walk = {bounds, signal, mountId, counted, bytes: 0n, inodes: 0n, entries: 1};
      count(await root.stat(), walk);
      await addEntries(root, walk, 0);
      return {bytes: walk.bytes, inodes: walk.inodes};
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
  walk.inodes += 1n;
  walk.bytes += BigInt(stats.blocks * BLOCK_BYTES);
}

async function addEntries(directory: FileHandle, walk: Walk, depth: number): Promise<void> {
  const entries = await readDirectoryEntries(directory, walk.bounds.maxEntries - walk.entries);
  walk.entries += entries.length;
  for (const {name} of entries) {
    walk.signal?.throwIfAborted();
    if (walk.bytes > walk.bounds.maxBytes) return;
    const path = Buffer.concat([Buffer.from(`${fdPath(directory)}/`), name]);
    try {
      await addEntry(path, walk, depth);
    } catch (error) {
      walk.signal?.throwIfAborted();
      // Entries that vanish or cannot be examined are skipped, as in a kubelet.
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
    if (mountIdOf(directory) !== walk.mountId) return;
    count(await directory.stat(), walk);
    await addEntries(directory, walk, depth + 1);
  } finally {
    await directory.close();
  }
}
