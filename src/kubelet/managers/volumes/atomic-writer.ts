import {randomInt} from 'node:crypto';
import {constants} from 'node:fs';
import {chmod, lstat, mkdir, readdir, readlink, rename, symlink, unlink} from 'node:fs/promises';
import {dirname, join, posix} from 'node:path';
import {hasErrno, SystemError} from '../../../base/errors.js';
import {ifPresent, MAX_SEGMENT_LENGTH, withFile, withFileErrors} from '../../../base/fs/files.js';
import {removeTree} from '../../../base/fs/remove-tree.js';

/** A file of a volume. */
export interface FileProjection {
  readonly data: Buffer;
  /** Permission bits. */
  readonly mode: number;
  /** UID of the owner; that of the kubelet by default. */
  readonly owner?: number | undefined;
}

/** Files of a volume by relative path, such as `a` or `a/b`. */
export type Payload = ReadonlyMap<string, FileProjection>;

const DATA_LINK = '..data';
const NEW_DATA_LINK = '..data_tmp';
const DIRECTORY_MODE = 0o755;
/** Limit of the number that ends the name of a version (os.MkdirTemp). */
const MAX_SUFFIX = 2 ** 32;
/** Group that chown(2) leaves unchanged. */
const UNCHANGED = -1;
const MAX_PATH_LENGTH = 4096;
const TIMESTAMPED = /^\.\.\d{4}(?:_\d\d){5}\.\w+$/;

/** Options of writeAtomically. */
export interface AtomicWriteOptions {
  /** Time of the new version, in ms since the epoch. */
  readonly now: number;
  /** Called when the new version is complete, before it becomes visible. */
  readonly setOwnership: () => Promise<void>;
}

/**
 * Updates a directory atomically to contain exactly these files (AtomicWriter.Write): the files are in a timestamped
 * directory, `..data` is a link to it, and the visible names are links into `..data`. Nothing is written if the content
 * is unchanged; modes are not compared. Leftovers of killed processes are removed. Only one process may write at a
 * time. Rejects with SystemError.
 */
export async function writeAtomically(
  directory: string,
  payload: Payload,
  options: AtomicWriteOptions,
): Promise<void> {
  const files = cleanPayload(payload);
  if (!(await holdsFiles(directory, files))) await replaceData(directory, files, options);
  await withFileErrors('writing', directory, async () => {
    await linkVisibleNames(directory, files);
    await removeStaleEntries(directory, files);
  });
}

/** Reports whether the current version has exactly these files. Rejects with SystemError, also for an invalid path. */
export async function isUpToDate(directory: string, payload: Payload): Promise<boolean> {
  return await holdsFiles(directory, cleanPayload(payload));
}

/**
 * Normalizes all paths. Throws SystemError for a path outside the volume or one reserved for the writer
 * (validatePayload).
 */
/**
 * Returns the current content of a file that writeAtomically has written; undefined if there is none of at most
 * `maxBytes`. Rejects with SystemError.
 */
export async function readCurrentFile(
  directory: string,
  name: string,
  maxBytes: number,
): Promise<Buffer | undefined> {
  return await withFileErrors('reading', directory, async () => {
    const version = await currentVersion(directory);
    if (version === undefined) return undefined;
    return await ifPresent(() => readRegularFile(join(directory, version, name), maxBytes));
  });
}

function cleanPayload(payload: Payload): Payload {
  return new Map(
    [...payload].map(([path, file]) => {
      const problem = pathProblem(path);
      if (problem !== undefined) throw new SystemError(`invalid path: ${problem}`);
      return [posix.normalize(path), file];
    }),
  );
}

/** Returns the problem of an invalid path (validatePath). */
function pathProblem(path: string): string | undefined {
  const parts = path.split('/');
  if (path === '') return 'must not be empty: ""';
  if (path.startsWith('/')) return `must be relative path: ${path}`;
  if (Buffer.byteLength(path) > MAX_PATH_LENGTH)
    return `must be less than or equal to ${MAX_PATH_LENGTH} characters`;
  if (parts.includes('..')) return `must not contain '..': ${path}`;
  if (parts.some((part) => Buffer.byteLength(part) > MAX_SEGMENT_LENGTH))
    return `filenames must be less than or equal to ${MAX_SEGMENT_LENGTH} characters`;
  return path.startsWith('..') ? `must not start with '..': ${path}` : undefined;
}

async function holdsFiles(directory: string, files: Payload): Promise<boolean> {
  return await withFileErrors('reading', directory, async () => {
    const name = await currentVersion(directory);
    if (name === undefined) return false;
    const version = join(directory, name);
    const present = await fileNames(version);
    if (present.length !== files.size) return false;
    for (const path of present) {
      const expected = files.get(path);
      if (expected === undefined || !(await hasContent(join(version, path), expected.data))) return false;
    }
    return true;
  });
}

/** Returns the name of the timestamped directory that `..data` links to, if it is valid. */
async function currentVersion(directory: string): Promise<string | undefined> {
  try {
    const name = await readlink(join(directory, DATA_LINK));
    if (!TIMESTAMPED.test(name)) return undefined;
    return (await lstat(join(directory, name))).isDirectory() ? name : undefined;
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'EINVAL')) return undefined;
    throw error;
  }
}

/** Returns the relative paths of everything below the directory except directories. */
async function fileNames(directory: string, prefix = ''): Promise<readonly string[]> {
  const entries = await readdir(join(directory, prefix), {withFileTypes: true});
  const names = entries.map(async (entry) => {
    const path = join(prefix, entry.name);
    return entry.isDirectory() ? await fileNames(directory, path) : [path];
  });
  return (await Promise.all(names)).flat();
}

async function hasContent(path: string, data: Buffer): Promise<boolean> {
  return (await readRegularFile(path, data.length))?.equals(data) === true;
}

/** Returns the content of a file; undefined for a larger one, and for anything but a regular file. */
async function readRegularFile(path: string, maxBytes: number): Promise<Buffer | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  try {
    return await withFile(path, flags, 0, async (file) => {
      const stats = await file.stat();
      return stats.isFile() && stats.size <= maxBytes ? await file.readFile() : undefined;
    });
  } catch (error) {
    // A link or a socket, which this writer does not create.
    if (hasErrno(error, 'ELOOP', 'ENXIO')) return undefined;
    throw error;
  }
}

async function replaceData(
  directory: string,
  files: Payload,
  {now, setOwnership}: AtomicWriteOptions,
): Promise<void> {
  const version = await withFileErrors('writing', directory, async () => {
    const path = join(directory, `..${timestamp(now)}.${randomInt(MAX_SUFFIX)}`);
    await mkdir(path);
    await chmod(path, DIRECTORY_MODE);
    return path;
  });
  try {
    for (const [path, file] of files) await writeFile(version, path, file);
    await setOwnership();
    await withFileErrors('switching to the new version in', directory, () => switchTo(directory, version));
  } catch (error) {
    await removeTree(version);
    throw error;
  }
}

/** Formats a time as `2026_01_31_23_59_59`, in UTC. */
function timestamp(now: number): string {
  return new Date(now).toISOString().slice(0, 19).replace(/[-T:]/g, '_');
}

async function writeFile(
  directory: string,
  path: string,
  {data, mode, owner}: FileProjection,
): Promise<void> {
  const full = join(directory, path);
  await withFileErrors('writing', full, async () => {
    await makeDirectoriesTo(directory, path);
    await withFile(full, 'wx', mode, async (file) => {
      await file.chmod(mode);
      if (owner !== undefined) await file.chown(owner, UNCHANGED);
      await file.writeFile(data);
    });
  });
}

/** Creates the directories between the new version, which only this process uses, and the file. */
async function makeDirectoriesTo(directory: string, path: string): Promise<void> {
  const parent = dirname(path);
  if (parent === '.') return;
  await makeDirectoriesTo(directory, parent);
  try {
    await mkdir(join(directory, parent));
    await chmod(join(directory, parent), DIRECTORY_MODE);
  } catch (error) {
    if (!hasErrno(error, 'EEXIST')) throw error;
  }
}

async function switchTo(directory: string, version: string): Promise<void> {
  const link = join(directory, NEW_DATA_LINK);
  await ifPresent(() => unlink(link));
  await symlink(posix.basename(version), link);
  await rename(link, join(directory, DATA_LINK));
}

/** Returns the names at the volume's root. */
function visibleNames(files: Payload): ReadonlySet<string> {
  return new Set([...files.keys()].map((path) => path.split('/', 1)[0] ?? path));
}

/** Creates the missing links. An existing entry stays: an earlier link, or the mount point of another volume. */
async function linkVisibleNames(directory: string, files: Payload): Promise<void> {
  for (const name of visibleNames(files)) {
    try {
      await symlink(linkTarget(name), join(directory, name));
    } catch (error) {
      if (!hasErrno(error, 'EEXIST')) throw error;
    }
  }
}

function linkTarget(name: string): string {
  return `${DATA_LINK}/${name}`;
}

/** Removes older versions and links to removed files; other entries do not belong to this writer. */
async function removeStaleEntries(directory: string, files: Payload): Promise<void> {
  const current = await currentVersion(directory);
  const visible = visibleNames(files);
  for (const entry of await readdir(directory, {withFileTypes: true})) {
    const {name} = entry;
    const path = join(directory, name);
    if (entry.isDirectory() && TIMESTAMPED.test(name) && name !== current) await removeTree(path);
    else if (entry.isSymbolicLink() && !visible.has(name) && (await isOwnLink(path, name)))
      await unlink(path);
  }
}

async function isOwnLink(path: string, name: string): Promise<boolean> {
  return name === NEW_DATA_LINK || (await readlink(path)) === linkTarget(name);
}
