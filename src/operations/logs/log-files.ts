import {
  close,
  closeSync,
  constants,
  fstat,
  fstatSync,
  open,
  openSync,
  read,
  readdir,
  readdirSync,
  readSync,
  realpath,
  realpathSync,
  stat,
  statSync,
} from 'node:fs';
import type {Clock} from '../../base/clock.js';
import {SystemError, unlessRoot} from '../../base/errors.js';
import {ifPresent} from '../../base/fs/if-present.js';

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
  watch(directories: readonly string[], clock: Clock): Promise<LogWatcher>;
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

/**
 * Returns access to the log files of this machine. Calls are made in the threads of Node.js, so that a file system that
 * hangs does not block signals, unless `mayCallDirectly` allows the next one on this thread.
 */
export function createLocalLogFiles(mayCallDirectly: () => boolean): LogFiles {
  const call: FileCall = async (direct, begin) => {
    if (mayCallDirectly()) return direct();
    return await new Promise((resolve, reject) => {
      // node:fs/promises takes a twentieth of the time of `logs` to load.
      begin((error, value) => {
        if (error === null) resolve(value);
        else reject(error);
      });
    });
  };
  return {
    open: async (path) => await openFile(path, call),
    stat: async (path) => {
      const stats = await ifPresent(() =>
        call(
          () => statSync(path),
          (done) => {
            stat(path, done);
          },
        ),
      );
      return stats && {identity: identityOf(stats), size: stats.size};
    },
    list: async (directory) =>
      await call(
        () => readdirSync(directory),
        (done) => {
          readdir(directory, done);
        },
      ),
    realpath: async (path) =>
      await call(
        () => realpathSync.native(path),
        (done) => {
          realpath.native(path, done);
        },
      ),
    watch: async (directories, clock) => {
      const {DirectoryWatcher} = await import('./follow/directory-watcher.js');
      return new DirectoryWatcher(directories, clock);
    },
    hint: `logs are files on the node of the runtime; run kcri there${unlessRoot(', with permission to read them', '')}`,
  };
}

/** Log files of this machine. */
export const LOCAL_LOG_FILES: LogFiles = createLocalLogFiles(() => false);

/** Makes a call on this thread or begins it in another. Resolves with its result. */
type FileCall = <T>(
  direct: () => T,
  begin: (done: (error: Error | null, value: T) => void) => void,
) => Promise<T>;

/** Device number of /dev/null, which is accepted as an empty log. */
const NULL_DEVICE = 0x103;

const identityOf = ({dev, ino}: {readonly dev: number; readonly ino: number}): string => `${dev}:${ino};`;

async function openFile(path: string, call: FileCall): Promise<OpenLogFile> {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK;
  const file = await call(
    () => openSync(path, flags),
    (done) => {
      open(path, flags, done);
    },
  );
  const statsOf = async () =>
    await call(
      () => fstatSync(file),
      (done) => {
        fstat(file, done);
      },
    );
  const closeFile = async () => {
    await call<undefined>(
      () => {
        closeSync(file);
        return undefined;
      },
      (done) => {
        close(file, (error) => {
          done(error ?? null, undefined);
        });
      },
    );
  };
  const stats = await statsOf();
  const isDevice = stats.isBlockDevice() || (stats.isCharacterDevice() && stats.rdev !== NULL_DEVICE);
  if (stats.isFIFO() || isDevice) {
    await closeFile();
    throw irregularLogError(path);
  }
  return {
    state: async () => {
      const now = await statsOf();
      return {identity: identityOf(now), size: now.size};
    },
    readAt: async (into, position) =>
      await call(
        () => readSync(file, into, 0, into.length, position),
        (done) => {
          read(file, into, 0, into.length, position, done);
        },
      ),
    close: closeFile,
  };
}
