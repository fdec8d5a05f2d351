import {lstat, readdir, rm} from 'node:fs/promises';
import {basename, dirname, isAbsolute, join} from 'node:path';
import {hasErrno, SystemError} from '../../base/errors.js';
import {ifPresent} from '../../base/fs/files.js';
import {systemErrorMessage} from '../../base/system-error-message.js';

/** A removed container, for the deletion of its logs. */
export interface RemovedContainer {
  /** Name or ID of the container as the user gave it. */
  readonly shown: string;
  readonly logPath: string;
  /** Creation time in nanoseconds since the epoch. */
  readonly createdAt: bigint;
}

/** Suffix of log files that the kubelet rotated. */
const ROTATED = /^(\.\d{8}-\d{6}(\.gz|\.tmp)?)?$/;

/**
 * Deletes a container's log and its rotated files if they are files on this machine and not older than the container:
 * the runtime may run on another machine, where the path is another file. `onKept` is called for each file that is
 * not deleted. Rejects with SystemError.
 */
export async function removeLogFiles(
  container: RemovedContainer,
  onKept: (file: string) => void,
): Promise<void> {
  const {logPath, createdAt, shown} = container;
  if (!isAbsolute(logPath)) return;
  try {
    for (const file of await logFiles(logPath)) {
      const stats = await ifPresent(() => lstat(file));
      if (stats === undefined) continue;
      if (stats.birthtimeMs < Number(createdAt / 1_000_000n) - CLOCK_SLACK_MS) onKept(file);
      else await rm(file, {force: true});
    }
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return;
    throw new SystemError(`cannot remove the logs of container "${shown}": ${systemErrorMessage(error)}`, {
      cause: error,
      hint: 'the container is removed; use --keep-logs to keep its logs',
    });
  }
}

/** Tolerance in milliseconds: clocks of filesystems are slightly slow. */
const CLOCK_SLACK_MS = 1000;

async function logFiles(logPath: string): Promise<readonly string[]> {
  const [directory, log] = [dirname(logPath), basename(logPath)];
  const entries = await readdir(directory, {withFileTypes: true});
  return entries
    .filter((entry) => !entry.isDirectory() && entry.name.startsWith(log))
    .filter(({name}) => ROTATED.test(name.slice(log.length)))
    .map(({name}) => join(directory, name));
}
