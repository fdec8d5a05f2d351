import {readdir, readFile, readlink} from 'node:fs/promises';
import {rethrowUnexpected} from '../errors.js';

/** A process that uses a file or socket. */
export interface FileUser {
  readonly pid: number;
  /** Name of the program, which it may have chosen itself. */
  readonly name: string;
}

/** Options of {@link findFileUsers}. */
export interface FindFileUsersOptions {
  /** Number of processes after which the search ends. */
  readonly count: number;
  /** Also looks at working directory, root directory and program of the processes, not only at open files. */
  readonly places?: boolean;
  /** Rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Links of a process to directories and files that it uses without a descriptor. */
const PLACES = ['cwd', 'root', 'exe'];
/** Number of links that are read, so that a process with a million descriptors does not take minutes. */
const MAX_LINKS = 200_000;

/**
 * Resolves with processes of which a link in /proc has a wanted target, such as `socket:[123]` or a path. It does not touch the
 * files themselves, which may be on a file system that hangs. Processes that this user may not read, and those of another PID
 * namespace, are not found.
 */
export async function findFileUsers(
  isWanted: (target: string) => boolean,
  {count, places = false, signal}: FindFileUsersOptions,
): Promise<readonly FileUser[]> {
  const users: FileUser[] = [];
  let links = 0;
  for (const pid of (await namesIn('/proc')).filter((name) => /^\d+$/.test(name))) {
    const descriptors = (await namesIn(`/proc/${pid}/fd`)).map((descriptor) => `fd/${descriptor}`);
    for (const link of places ? [...PLACES, ...descriptors] : descriptors) {
      signal?.throwIfAborted();
      links += 1;
      if (links > MAX_LINKS) return users;
      const target = await orUndefined(() => readlink(`/proc/${pid}/${link}`));
      if (target === undefined || !isWanted(target)) continue;
      users.push({pid: Number(pid), name: (await textOf(`/proc/${pid}/comm`)).trim()});
      break;
    }
    if (users.length >= count) return users;
  }
  return users;
}

/** Reads a small file; empty if the system reports an error, such as for a process that has ended. */
export async function textOf(path: string): Promise<string> {
  return (await orUndefined(() => readFile(path, 'utf8'))) ?? '';
}

async function namesIn(directory: string): Promise<readonly string[]> {
  return (await orUndefined(() => readdir(directory))) ?? [];
}

async function orUndefined<T>(get: () => Promise<T>): Promise<T | undefined> {
  try {
    return await get();
  } catch (error) {
    rethrowUnexpected(error);
    return undefined;
  }
}
