import {statfs} from 'node:fs/promises';
import {isSystemCallError} from '../../../../base/errors.js';
import type {FilesystemUsage} from '../../../../cri/index.js';
import type {JsonObject} from '../../../../format/json.js';
import {formatTimestamp, omitUndefined, valueOf} from '../summary-parts.js';

/** Size of a filesystem and what is free; empty if it cannot be read. */
export interface FilesystemCapacity {
  readonly availableBytes?: bigint;
  readonly capacityBytes?: bigint;
  readonly inodes?: bigint;
  readonly inodesFree?: bigint;
}

/** Reads FsStats for a summary; queries each filesystem once. */
export class FilesystemStats {
  readonly #capacities = new Map<string, Promise<FilesystemCapacity>>();

  /** Reads the FsStats of a filesystem. Rejects with the system's error. */
  async readFilesystem(path: string, timeNanos: bigint): Promise<JsonObject> {
    const {bsize, bavail, blocks, bfree, files, ffree} = await statfs(path, {bigint: true});
    return {
      time: formatTimestamp(timeNanos),
      availableBytes: bavail * bsize,
      capacityBytes: blocks * bsize,
      usedBytes: (blocks - bfree) * bsize,
      inodes: files,
      inodesFree: ffree,
      inodesUsed: files - ffree,
    };
  }

  /** Reads the FsStats of a filesystem that the runtime reports. Omits the capacity if it cannot be read. */
  async readRuntimeFilesystem({
    fsId,
    timestamp,
    usedBytes,
    inodesUsed,
  }: FilesystemUsage): Promise<JsonObject> {
    return {
      time: formatTimestamp(timestamp),
      ...(await this.capacity(fsId?.mountpoint ?? '')),
      ...omitUndefined({usedBytes: valueOf(usedBytes), inodesUsed: valueOf(inodesUsed)}),
    };
  }

  /** Returns the capacity of the filesystem of a path; empty if it cannot be read. */
  capacity(path: string): Promise<FilesystemCapacity> {
    const capacity = this.#capacities.get(path) ?? readCapacity(path);
    this.#capacities.set(path, capacity);
    return capacity;
  }
}

async function readCapacity(path: string): Promise<FilesystemCapacity> {
  try {
    const {bsize, bavail, blocks, files, ffree} = await statfs(path, {bigint: true});
    return {
      availableBytes: bavail * bsize,
      capacityBytes: blocks * bsize,
      inodes: files,
      inodesFree: ffree,
    };
  } catch (error) {
    if (isSystemCallError(error)) return {};
    throw error;
  }
}
