import {statfs} from 'node:fs/promises';
import {diskUsage} from '../../../base/disk-usage.js';
import {isSystemCallError, SystemError} from '../../../base/errors.js';
import type {FilesystemUsage} from '../../../cri/index.js';
import type {JsonObject} from '../../../format/json.js';
import {present, timeText, valueOf} from './summary-parts.js';

/** A container's logs are few files; nobody waits for more. */
const LOG_BOUNDS = {bytes: 2n ** 62n, entries: 1000};

/** How full file systems are: each is asked for once. */
export class FileSystems {
  readonly #known = new Map<string, Promise<JsonObject>>();

  /** FsStats of a whole file system. Rejects with the system's error. */
  async whole(path: string, timeNanos: bigint): Promise<JsonObject> {
    const {bsize, bavail, blocks, bfree, files, ffree} = await statfs(path, {bigint: true});
    return {
      time: timeText(timeNanos),
      availableBytes: bavail * bsize,
      capacityBytes: blocks * bsize,
      usedBytes: (blocks - bfree) * bsize,
      inodes: files,
      inodesFree: ffree,
      inodesUsed: files - ffree,
    };
  }

  /** FsStats of what the runtime says of a part of a file system, which may be on another machine. */
  async part({fsId, timestamp, usedBytes, inodesUsed}: FilesystemUsage): Promise<JsonObject> {
    return {
      ...(await this.#room(fsId?.mountpoint ?? '')),
      time: timeText(timestamp),
      ...present({usedBytes: valueOf(usedBytes), inodesUsed: valueOf(inodesUsed)}),
    };
  }

  /** FsStats of a container's directory of logs; undefined without it. */
  async logs(path: string, timeNanos: bigint): Promise<JsonObject | undefined> {
    let usedBytes: bigint;
    try {
      usedBytes = await diskUsage(path, LOG_BOUNDS);
    } catch (error) {
      if (error instanceof SystemError) return undefined;
      throw error;
    }
    if (usedBytes === 0n) return undefined;
    return {...(await this.#room(path)), time: timeText(timeNanos), usedBytes};
  }

  /** What there is and what is left; nothing of a file system that can't be asked. */
  #room(path: string): Promise<JsonObject> {
    const known = this.#known.get(path) ?? readRoom(path);
    this.#known.set(path, known);
    return known;
  }
}

async function readRoom(path: string): Promise<JsonObject> {
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
