import {lstat, readdir} from 'node:fs/promises';
import {isSystemCallError} from '../errors.js';

/** Space and inodes that files use. */
export interface FileUsage {
  readonly usedBytes: bigint;
  readonly inodesUsed: bigint;
}

/** Usage without files. */
export const NO_FILES: FileUsage = {usedBytes: 0n, inodesUsed: 0n};

/** Unit of st_blocks (stat(2)). */
const BLOCK_BYTES = 512n;
/** Bound on the files that are examined in a log directory, which normally has few. */
const MAX_FILES = 1000;

/** Returns the usage of the files in a directory, without directories (fileMetricsByDir); undefined if it cannot be read. */
export async function readFilesUsage(directory: string): Promise<FileUsage | undefined> {
  let names: readonly string[];
  try {
    const entries = await readdir(directory, {withFileTypes: true});
    names = entries.filter((entry) => !entry.isDirectory()).map(({name}) => name);
  } catch (error) {
    if (isSystemCallError(error)) return undefined;
    throw error;
  }
  const usages = await Promise.all(
    names.slice(0, MAX_FILES).map(async (name) => readFileUsage(`${directory}/${name}`)),
  );
  return sumFileUsage(usages.filter((usage) => usage !== undefined));
}

/** Returns the usage of a file, without following a link; undefined if it cannot be read. */
export async function readFileUsage(path: string): Promise<FileUsage | undefined> {
  try {
    const {blocks} = await lstat(path, {bigint: true});
    return {usedBytes: blocks * BLOCK_BYTES, inodesUsed: 1n};
  } catch (error) {
    if (isSystemCallError(error)) return undefined;
    throw error;
  }
}

/** Returns the sum of usages. */
export function sumFileUsage(usages: readonly FileUsage[]): FileUsage {
  return usages.reduce(
    (sum, {usedBytes, inodesUsed}) => ({
      usedBytes: sum.usedBytes + usedBytes,
      inodesUsed: sum.inodesUsed + inodesUsed,
    }),
    NO_FILES,
  );
}
