import {randomBytes} from 'node:crypto';
import {constants} from 'node:fs';
import {chown, mkdir, open, rename, rmdir, stat, unlink, type FileHandle} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import {hasErrno, SystemError} from './errors.js';
import {systemReason} from './system-reason.js';

const HINTS: Readonly<Record<string, string>> = {
  EACCES: 'run as root, or choose a directory of your own with --root-dir',
  EPERM: 'run as root, or choose a directory of your own with --root-dir',
  EROFS: 'choose a directory on a writable file system with --root-dir',
  ENOSPC: 'free some space there, or choose a directory on another file system with --root-dir',
  EDQUOT: 'the disk quota is used up: free some space, or choose another directory with --root-dir',
  ENOTDIR: 'a part of the path is not a directory: move it away, or choose another one with --root-dir',
};

/** The same for a file that the user named, where --root-dir changes nothing. */
const NAMED_FILE_HINTS: Readonly<Record<string, string>> = {
  EACCES: 'run as root, or name a file of your own',
  EPERM: 'run as root, or name a file of your own',
  EROFS: 'name a file on a writable file system',
  ENOSPC: 'free some space there, or name a file on another file system',
  EDQUOT: 'the disk quota is used up: free some space, or name a file elsewhere',
  ENOTDIR: 'a part of the path is not a directory: move it away, or name another file',
};

/**
 * The error of a file operation for a person: `writing "/x/y": no space left on device`, and what to do. An error
 * that already is one is passed on as it is.
 */
export function fileError(doing: string, path: string, cause: unknown): SystemError {
  if (cause instanceof SystemError) return cause;
  return new SystemError(`${doing} ${JSON.stringify(path)}: ${systemReason(cause)}`, {
    cause,
    hint: HINTS[codeOf(cause)],
  });
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : '';
}

/** Runs a file operation; what it throws becomes a SystemError that names `path` (see fileError). */
export async function withFileErrors<T>(doing: string, path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw fileError(doing, path, error);
  }
}

/** Does something with files that the user named: a SystemError's hint then tells to name another one. */
export async function onNamedFiles<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    const {message, cause, hint} = error;
    const code = codeOf(cause);
    throw new SystemError(message, {cause, hint: hint === HINTS[code] ? NAMED_FILE_HINTS[code] : hint});
  }
}

/** The operation's result, or undefined when what it is about does not exist. */
export async function ifPresent<T>(act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Whether something is at the path, which a link may lead to. Rejects with SystemError. */
export async function isPresent(path: string): Promise<boolean> {
  return (await withFileErrors('looking at', path, () => ifPresent(() => stat(path)))) !== undefined;
}

const PATH_SEGMENT = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
/** How long a file's name may be: NAME_MAX of every Linux file system. */
export const MAX_SEGMENT_LENGTH = 255;

/**
 * The value, when it is fit to be one part of a path: it can't climb out of its directory or hide in it.
 *
 * @throws SystemError that says what the value is, such as `pod UID`.
 */
export function pathSegment(what: string, value: string): string {
  if (PATH_SEGMENT.test(value) && value.length <= MAX_SEGMENT_LENGTH) return value;
  throw new SystemError(`the ${what} ${JSON.stringify(value)} can't be the name of a file`, {
    hint: `use letters, digits, "-", "_" and "." only, at most ${MAX_SEGMENT_LENGTH}, starting with a letter or digit`,
  });
}

/** A directory to be made, with exactly this mode whatever the umask is. */
export interface DirectoryToMake {
  readonly path: string;
  readonly mode: number;
}

/**
 * Makes the directories in order, parents first; those that exist are left as they are. When one can't be made, the
 * ones made before it are removed again. Rejects with SystemError.
 */
export async function makeDirectories(directories: readonly DirectoryToMake[]): Promise<void> {
  const made: string[] = [];
  for (const {path, mode} of directories) {
    try {
      if (await makeDirectory(path, mode)) made.push(path);
    } catch (error) {
      // The first failure is what matters; what can't be taken back is empty and found by the next run.
      for (const path of made.reverse()) await rmdir(path).catch(() => undefined);
      throw fileError('making the directory', path, error);
    }
  }
}

/** True when it was made, false when it was there. */
async function makeDirectory(path: string, mode: number): Promise<boolean> {
  try {
    await mkdir(path, {mode});
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return false;
    throw error;
  }
  // By now another process may have put a link in its place.
  await withFile(path, constants.O_DIRECTORY | constants.O_NOFOLLOW, 0, async (directory) => {
    await directory.chmod(mode);
  });
  return true;
}

/** Whose file it is. */
export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Replaces the file's whole content at once: readers see the old or the new one, also after a crash. The file has
 * exactly this mode whatever the umask is, and this owner when one is given. When it fails nothing is left behind; a
 * killed process can leave `.<name>.<random>.tmp`. Rejects with SystemError.
 */
export async function writeFileAtomic(
  path: string,
  content: string,
  mode: number,
  owner?: FileOwner,
): Promise<void> {
  await withFileErrors('writing', path, async () => {
    await exchange(path, async (temporary) => {
      await writeNewFile(temporary, content, {mode, isDurable: true});
      if (owner !== undefined) await chown(temporary, owner.uid, owner.gid);
    });
    await syncDirectory(dirname(path));
  });
}

/**
 * The same without waiting for the disk, which takes longer than all else: after a power failure the file may be empty,
 * or as it was. For what counts no longer then, or is written anew. Rejects with the system's error.
 */
export async function replaceFile(path: string, content: string, mode: number): Promise<void> {
  await exchange(path, async (temporary) => writeNewFile(temporary, content, {mode, isDurable: false}));
}

/** Puts what is written beside the file into its place; nothing is left when it fails. */
async function exchange(path: string, write: (temporary: string) => Promise<void>): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    await write(temporary);
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}

/** True for the temporary files that a killed writeFileAtomic of `path` left. */
export function isLeftoverOf(path: string, fileName: string): boolean {
  return fileName.startsWith(`.${basename(path)}.`) && fileName.endsWith('.tmp');
}

async function writeNewFile(
  path: string,
  content: string,
  {mode, isDurable}: {readonly mode: number; readonly isDurable: boolean},
): Promise<void> {
  await withFile(path, 'wx', mode, async (file) => {
    await file.chmod(mode);
    await file.writeFile(content);
    if (isDurable) await file.sync();
  });
}

/** A rename is on the disk only when its directory is. */
async function syncDirectory(path: string): Promise<void> {
  await withFile(path, 'r', 0, async (directory) => {
    await directory.sync();
  });
}

/** Opens, uses and closes a file. */
export async function withFile<T>(
  path: string,
  flags: string | number,
  mode: number,
  use: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const file = await open(path, flags, mode);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}
