import {constants, lstatSync} from 'node:fs';
import {mkdir, open, readdir, rmdir, stat, type FileHandle} from 'node:fs/promises';
import {dirname} from 'node:path';
import {hasErrno, SystemError, unlessRoot} from '../errors.js';
import {systemErrorCode, systemErrorMessage} from '../system-error-message.js';
import {ifPresent, isAbsent} from './if-present.js';

export {ifPresent, isAbsent} from './if-present.js';

const AS_ROOT = unlessRoot('run as root, or ', '');

const HINTS: Readonly<Record<string, string>> = {
  EACCES: `${AS_ROOT}set --root-dir to a directory that you can write to`,
  EPERM: `${AS_ROOT}set --root-dir to a directory that you can write to`,
  EROFS: 'set --root-dir to a directory on a writable filesystem',
  ENOSPC: 'free some space, or set --root-dir to a directory on another filesystem',
  EDQUOT: 'free some space, or set --root-dir to a directory on another filesystem',
  ENOTDIR: 'part of the path is not a directory: move it away, or set --root-dir to another directory',
};

/** Hints for a file that the user named, where --root-dir does not help. */
const NAMED_FILE_HINTS: Readonly<Record<string, string>> = {
  EACCES: `${AS_ROOT}specify a file that you can access`,
  EPERM: `${AS_ROOT}specify a file that you can access`,
  EROFS: 'specify a file on a writable filesystem',
  ENOSPC: 'free some space, or specify a file on another filesystem',
  EDQUOT: 'free some space, or specify a file on another filesystem',
  ENOTDIR: 'part of the path is not a directory: move it away, or specify another file',
};

/**
 * Creates the error of a file operation, with a hint: `writing "/x/y": no space left on device`. A SystemError is
 * returned unchanged.
 */
export function fileError(doing: string, path: string, cause: unknown): SystemError {
  if (cause instanceof SystemError) return cause;
  return new SystemError(`${doing} ${JSON.stringify(path)}: ${systemErrorMessage(cause)}`, {
    cause,
    hint: HINTS[systemErrorCode(cause)],
  });
}

/** Runs a file operation and converts its errors into SystemErrors that name `path` (see fileError). */
export async function withFileErrors<T>(doing: string, path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw fileError(doing, path, error);
  }
}

/** Runs work on files that the user named: hints of SystemErrors then suggest naming another file. */
export async function withUserFileHints<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    const {message, cause, hint} = error;
    const code = systemErrorCode(cause);
    throw new SystemError(message, {cause, hint: hint === HINTS[code] ? NAMED_FILE_HINTS[code] : hint});
  }
}

/** Returns the names in a directory, empty if it does not exist. Rejects with SystemError. */
export async function listNames(directory: string): Promise<readonly string[]> {
  const read = async (): Promise<readonly string[] | undefined> =>
    isAbsent(directory) ? undefined : await ifPresent(() => readdir(directory));
  return (await withFileErrors('reading', directory, read)) ?? [];
}

/** Returns the names of the directories in a directory, without links; empty if it does not exist. Rejects with SystemError. */
export async function listDirectoryNames(directory: string): Promise<readonly string[]> {
  const read = async () => await ifPresent(() => readdir(directory, {withFileTypes: true}));
  const entries = (await withFileErrors('reading', directory, read)) ?? [];
  return entries.filter((entry) => entry.isDirectory()).map(({name}) => name);
}

/** Reports whether the path exists, following links. Rejects with SystemError. */
export async function pathExists(path: string): Promise<boolean> {
  return (await withFileErrors('checking', path, () => ifPresent(() => stat(path)))) !== undefined;
}

const PATH_SEGMENT = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
/** Longest file name: NAME_MAX of every Linux filesystem. */
export const MAX_SEGMENT_LENGTH = 255;

/**
 * Returns the value if it is safe as one component of a path: it can neither leave its directory nor be hidden.
 *
 * @throws SystemError that names the kind of value, such as `pod UID`.
 */
export function validatePathSegment(what: string, value: string): string {
  if (isPathSegment(value)) return value;
  throw new SystemError(`the ${what} ${JSON.stringify(value)} cannot be a file name`, {
    hint: `use at most ${MAX_SEGMENT_LENGTH} letters, digits, "-", "_" and ".", starting with a letter or digit`,
  });
}

/** Reports whether the value is safe as one component of a path; see validatePathSegment. */
export function isPathSegment(value: string): boolean {
  return PATH_SEGMENT.test(value) && value.length <= MAX_SEGMENT_LENGTH;
}

/** A directory to create, with exactly this mode regardless of the umask. */
export interface DirectoryToMake {
  readonly path: string;
  readonly mode: number;
}

/**
 * Creates the directories, given with parents first; existing ones stay unchanged. If one cannot be created, the ones
 * created before it are removed. Rejects with SystemError.
 */
export async function makeDirectories(directories: readonly DirectoryToMake[]): Promise<void> {
  const made: string[] = [];
  const make = async ({path, mode}: DirectoryToMake): Promise<void> => {
    const parent = directories.find((other) => other.path === dirname(path));
    const attempt = async (): Promise<true> => {
      if (await makeDirectory(path, mode)) made.push(path);
      return true;
    };
    await withFileErrors('creating the directory', path, async () => {
      // A parent that has been there is created again only when it is missing.
      if (parent === undefined) await attempt();
      else if (!existing.has(parent.path) || (await ifPresent(attempt)) === undefined) {
        await make(parent);
        await attempt();
      }
    });
    keepExisting(path);
  };
  const parents = new Set(directories.map(({path}) => dirname(path)));
  try {
    for (const directory of directories) if (!parents.has(directory.path)) await make(directory);
  } catch (error) {
    // The first failure matters; a directory that cannot be removed is empty and found by the next run.
    for (const path of made.reverse()) await rmdir(path).catch(() => undefined);
    throw error;
  }
}

/** Directories that makeDirectories has created or found, in the order in which it last did so. */
const existing = new Set<string>();
/** Number of directories that are remembered: those of pods are removed as trees, without a call for each. */
const MAX_EXISTING = 1000;

function keepExisting(path: string): void {
  existing.delete(path);
  existing.add(path);
  const [oldest] = existing;
  if (existing.size > MAX_EXISTING && oldest !== undefined) existing.delete(oldest);
}

/** Bits of a file's mode that chmod(2) sets. */
export const MODE_BITS = 0o7777;

/** Returns true if the directory was created, false if it existed. */
async function makeDirectory(path: string, mode: number): Promise<boolean> {
  try {
    await mkdir(path, {mode});
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return false;
    throw error;
  }
  // Without a restrictive umask, this takes one call instead of three. Asked on this thread, since another takes longer than the
  // answer, which the kernel has from the creation.
  if (((lstatSync(path, {throwIfNoEntry: false})?.mode ?? 0) & MODE_BITS) === mode) return true;
  // Another process may have replaced it with a link.
  await withFile(path, constants.O_DIRECTORY | constants.O_NOFOLLOW, 0, async (directory) => {
    await directory.chmod(mode);
  });
  return true;
}

/** Opens a file, passes it to `use` and closes it. */
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
