import {lstat, readdir, rm} from 'node:fs/promises';
import {basename, dirname, isAbsolute, join} from 'node:path';
import {hasErrno, SystemError} from '../../base/errors.js';
import {ifPresent} from '../../base/fs/files.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import type {SftpClient} from '../../remote/sftp/sftp-client.js';

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
  await removeFrom(LOCAL_FILES, container, onKept);
}

/**
 * Deletes the log files of a container of another node, whose files the client reads. Files that were last written
 * before the container was created are not deleted. Rejects with SystemError.
 */
export async function removeRemoteLogFiles(
  client: SftpClient,
  container: RemovedContainer,
  onKept: (file: string) => void,
): Promise<void> {
  const files: RemovableFiles = {
    list: async (directory) => await client.list(directory),
    timeMs: async (file) => 1000 * ((await client.stat(file)).modifiedAt ?? Infinity),
    remove: async (file) => {
      await client.remove(file);
    },
  };
  await removeFrom(files, container, onKept);
}

/** Files of a node. */
interface RemovableFiles {
  /** Returns the names in a directory, without those of directories if it knows them. */
  list(directory: string): Promise<readonly string[]>;
  /** Returns the time of a file to compare with the creation of its container, in ms since the epoch. */
  timeMs(file: string): Promise<number>;
  remove(file: string): Promise<void>;
}

const LOCAL_FILES: RemovableFiles = {
  list: async (directory) => {
    const entries = await readdir(directory, {withFileTypes: true});
    return entries.filter((entry) => !entry.isDirectory()).map(({name}) => name);
  },
  timeMs: async (file) => (await lstat(file)).birthtimeMs,
  remove: async (file) => {
    await rm(file, {force: true});
  },
};

async function removeFrom(
  files: RemovableFiles,
  {logPath, createdAt, shown}: RemovedContainer,
  onKept: (file: string) => void,
): Promise<void> {
  if (!isAbsolute(logPath)) return;
  try {
    for (const file of await logFiles(files, logPath)) {
      const timeMs = await ifPresent(() => files.timeMs(file));
      if (timeMs === undefined) continue;
      if (timeMs < Number(createdAt / 1_000_000n) - CLOCK_SLACK_MS) onKept(file);
      else await files.remove(file);
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

async function logFiles(files: RemovableFiles, logPath: string): Promise<readonly string[]> {
  const [directory, log] = [dirname(logPath), basename(logPath)];
  return (await files.list(directory))
    .filter((name) => name.startsWith(log) && ROTATED.test(name.slice(log.length)))
    .map((name) => join(directory, name));
}
