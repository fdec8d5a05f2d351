import {close, constants, fstat, open, read, readdir, realpath, stat, type Stats} from 'node:fs';
import type {Clock} from '../../base/clock.js';
import {SystemError, unlessRoot} from '../../base/errors.js';
import {ifPresent} from '../../base/fs/files.js';
import {DirectoryWatcher} from './directory-watcher.js';

/** State of a log file. */
export interface LogFileState {
  /**
   * Text that identifies the file, also after it was renamed. Of a file on another node, it is the beginning of the file,
   * and grows until it is complete.
   */
  readonly identity: string;
  readonly size: number;
}

/** A log file open for reading at any offset. */
export interface OpenLogFile {
  state(): Promise<LogFileState>;
  /** Fills the buffer from an offset of the file, up to its end. Returns the number of bytes. */
  readAt(into: Buffer, position: number): Promise<number>;
  close(): Promise<void>;
}

/** Waits for changes of logs. */
export interface LogWatcher extends Disposable {
  /** Waits for a change since the last wait, at most `ms` milliseconds. Rejects with the signal's reason. */
  next(ms: number, signal: AbortSignal): Promise<void>;
}

/** Access to the log files of a node. Its methods reject with the system's errors. */
export interface LogFiles {
  /**
   * Opens a log for reading. Since the path comes from the runtime, pipes (which could block forever), disks and other
   * devices are rejected with SystemError.
   */
  open(path: string): Promise<OpenLogFile>;
  /** Returns the state of the file at a path; undefined if there is none. */
  stat(path: string): Promise<LogFileState | undefined>;
  list(directory: string): Promise<readonly string[]>;
  /** Returns the path without symbolic links. */
  realpath(path: string): Promise<string>;
  watch(directories: readonly string[], clock: Clock): LogWatcher;
  /** Hint of errors of a file that cannot be read. */
  readonly hint: string;
}

/**
 * Reports whether a file at a path is the same as an open file, whose state was read later: in the meantime an empty file
 * may have received its beginning.
 */
export function isSameFile(atPath: LogFileState, open: LogFileState): boolean {
  return open.identity.startsWith(atPath.identity) && (atPath.identity !== '' || open.identity === '');
}

/** Returns the error of a log that is a pipe or a device. */
export function irregularLogError(path: string): SystemError {
  return new SystemError(`the log "${path}" is not a regular file`, {
    hint: 'the path comes from the runtime; see "logPath" in "kcri inspect"',
  });
}

/** Log files of this machine. */
export const LOCAL_LOG_FILES: LogFiles = {
  open: async (path) => openedFile(await openChecked(path)),
  stat: async (path) => {
    const stats = await ifPresent(() =>
      result<Stats>((done) => {
        stat(path, done);
      }),
    );
    return stats && {identity: identityOf(stats), size: stats.size};
  },
  list: async (directory) =>
    await result<string[]>((done) => {
      readdir(directory, done);
    }),
  realpath: async (path) =>
    await result<string>((done) => {
      realpath.native(path, done);
    }),
  watch: (directories, clock) => new DirectoryWatcher(directories, clock),
  hint: `logs are files on the node of the runtime; run kcri there${unlessRoot(', with permission to read them', '')}`,
};

/** Device number of /dev/null, which is accepted as an empty log. */
const NULL_DEVICE = 0x103;

const identityOf = ({dev, ino}: {readonly dev: number; readonly ino: number}): string => `${dev}:${ino};`;

function openedFile(file: number): OpenLogFile {
  return {
    state: async () => {
      const stats = await statsOf(file);
      return {identity: identityOf(stats), size: stats.size};
    },
    readAt: async (into, position) =>
      await result<number>((done) => {
        read(file, into, 0, into.length, position, done);
      }),
    close: async () => {
      await closed(file);
    },
  };
}

async function openChecked(path: string): Promise<number> {
  const file = await result<number>((done) => {
    open(path, constants.O_RDONLY | constants.O_NONBLOCK, done);
  });
  const stats = await statsOf(file);
  const isDevice = stats.isBlockDevice() || (stats.isCharacterDevice() && stats.rdev !== NULL_DEVICE);
  if (!stats.isFIFO() && !isDevice) return file;
  await closed(file);
  throw irregularLogError(path);
}

async function statsOf(file: number): Promise<Stats> {
  return await result<Stats>((done) => {
    fstat(file, done);
  });
}

async function closed(file: number): Promise<void> {
  await result<undefined>((done) => {
    close(file, (error) => {
      done(error ?? null, undefined);
    });
  });
}

/** Resolves with the result of a call of node:fs: node:fs/promises takes a twentieth of the time of `logs` to load. */
async function result<T>(call: (done: (error: Error | null, value: T) => void) => void): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    call((error, value) => {
      if (error === null) resolve(value);
      else reject(error);
    });
  });
}
