import {lstat, readdir, rm} from 'node:fs/promises';
import {basename, dirname, isAbsolute, join} from 'node:path';
import {hasErrno, SystemError} from '../base/errors.js';
import {ifPresent} from '../base/files.js';
import {systemReason} from '../base/system-reason.js';

/** A container that is gone, as far as its logs matter. */
export interface GoneContainer {
  /** What the user called it. */
  readonly shown: string;
  readonly logPath: string;
  /** Nanoseconds since the epoch. */
  readonly createdAt: bigint;
}

/** What the kubelet adds to the name of a log that it rotates. */
const ROTATED = /^(\.\d{8}-\d{6}(\.gz|\.tmp)?)?$/;

/**
 * Deletes a container's log and its rotations, if they are files on this machine that are not older than the
 * container: the runtime may be on another machine, and its path be something else here. `onKept` is told of a file
 * that stays. Throws SystemError.
 */
export async function removeLogs(container: GoneContainer, onKept: (file: string) => void): Promise<void> {
  const {logPath, createdAt, shown} = container;
  if (!isAbsolute(logPath)) return;
  try {
    for (const file of await logFiles(logPath)) {
      const found = await ifPresent(() => lstat(file));
      if (found === undefined) continue;
      if (found.birthtimeMs < Number(createdAt / 1_000_000n) - CLOCK_SLACK_MS) onKept(file);
      else await rm(file, {force: true});
    }
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return;
    throw new SystemError(`removing the logs of container "${shown}": ${systemReason(error)}`, {
      cause: error,
      hint: 'the container is removed; --keep-logs leaves logs alone',
    });
  }
}

/** File systems stamp files with a clock that is a little behind. */
const CLOCK_SLACK_MS = 1000;

async function logFiles(logPath: string): Promise<readonly string[]> {
  const [folder, log] = [dirname(logPath), basename(logPath)];
  const entries = await readdir(folder, {withFileTypes: true});
  return entries
    .filter((entry) => !entry.isDirectory() && entry.name.startsWith(log))
    .filter(({name}) => ROTATED.test(name.slice(log.length)))
    .map(({name}) => join(folder, name));
}
