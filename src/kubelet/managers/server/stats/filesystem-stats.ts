import {statfs} from 'node:fs/promises';
import {diskUsage} from '../../../../base/fs/disk-usage.js';
import {isSystemCallError, SystemError} from '../../../../base/errors.js';
import type {FilesystemUsage} from '../../../../cri/index.js';
import type {JsonObject} from '../../../../format/json.js';
import {omitUndefined, formatTimestamp, valueOf} from './summary-parts.js';

/** Bound on the entries that are read in a container's log directory, which normally has few. */
const LOG_BOUNDS = {maxBytes: 2n ** 62n, maxEntries: 1000};

/** Reads FsStats for a summary; queries each filesystem once. */
export class FilesystemStats {
  readonly #capacities = new Map<string, Promise<JsonObject>>();

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
      ...(await this.#capacity(fsId?.mountpoint ?? '')),
      time: formatTimestamp(timestamp),
      ...omitUndefined({usedBytes: valueOf(usedBytes), inodesUsed: valueOf(inodesUsed)}),
    };
  }

  /** Reads the FsStats of a container's log directory; undefined if it does not exist or is empty. */
  async readLogDirectory(path: string, timeNanos: bigint): Promise<JsonObject | undefined> {
    let usedBytes: bigint;
    try {
      usedBytes = await diskUsage(path, LOG_BOUNDS);
    } catch (error) {
      if (error instanceof SystemError) return undefined;
      throw error;
    }
    if (usedBytes === 0n) return undefined;
    return {...(await this.#capacity(path)), time: formatTimestamp(timeNanos), usedBytes};
  }

  #capacity(path: string): Promise<JsonObject> {
    const capacity = this.#capacities.get(path) ?? readCapacity(path);
    this.#capacities.set(path, capacity);
    return capacity;
  }
}

/** Reads capacity and free space; resolves with an empty object if the filesystem cannot be read. */
async function readCapacity(path: string): Promise<JsonObject> {
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
