import {readlink, stat} from 'node:fs/promises';
import type {Stats} from 'node:fs';
import {dirname, isAbsolute} from 'node:path';
import type {HostPathType, HostPathVolumeSource} from '../../../../api/types/v1-volumes.js';
import {hasErrno, isSystemCallError, SystemError} from '../../../../base/errors.js';
import {withFile, withFileErrors} from '../../../../base/fs/files.js';
import {makeDirectoryPath} from '../../../../base/fs/make-directory-path.js';
import {formatPathError} from '../../../../base/system-error-message.js';
import type {VolumePlugin} from './volume-plugin.js';

/** Check of a hostPath type (getFileType). */
interface TypeCheck {
  /** Noun for the message `is not a …`. */
  readonly noun: string;
  readonly matches: (stats: Stats) => boolean;
  readonly creation?: Creation;
}

/** Creation of a missing file or directory. */
interface Creation {
  /** System call with which a kubelet creates it. */
  readonly call: string;
  /** Creates it; keeps an existing one. */
  readonly create: (path: string) => Promise<unknown>;
}

const DIRECTORY_MODE = 0o755;
const FILE_MODE = 0o644;
/** Maximum number of links, like the kernel's. */
const MAX_LINKS = 40;

const DIRECTORY: TypeCheck = {noun: 'directory', matches: (stats) => stats.isDirectory()};
const FILE: TypeCheck = {noun: 'file', matches: (stats) => stats.isFile()};

const CHECKS: Readonly<Record<Exclude<HostPathType, ''>, TypeCheck>> = {
  Directory: DIRECTORY,
  DirectoryOrCreate: {
    ...DIRECTORY,
    creation: {call: 'mkdir', create: async (path) => makeDirectoryPath(path, DIRECTORY_MODE)},
  },
  File: FILE,
  FileOrCreate: {
    ...FILE,
    creation: {call: 'open', create: createFile},
  },
  Socket: {noun: 'socket file', matches: (stats) => stats.isSocket()},
  CharDevice: {noun: 'character device', matches: (stats) => stats.isCharacterDevice()},
  BlockDevice: {noun: 'block device', matches: (stats) => stats.isBlockDevice()},
};

/** Plugin for existing files of the node; their ownership is never changed (hostpath). */
export const hostPath: VolumePlugin<HostPathVolumeSource> = {
  name: 'kubernetes.io/host-path',
  readOnly: false,
  keepsLabels: () => true,
  path: (_node, {source}) => source.path,
  setUp: async (_host, {source}) => {
    await setUpHostPath(source);
  },
};

/**
 * Checks the type of a hostPath, and creates it for the types DirectoryOrCreate and FileOrCreate (hostpath checkType).
 * Does nothing without a type. Rejects with SystemError with the kubelet's message.
 */
export async function setUpHostPath({path, type = ''}: HostPathVolumeSource): Promise<void> {
  if (type === '') return;
  const {noun, matches, creation} = CHECKS[type];
  let stats = await statOptional(path);
  if (stats === undefined && creation !== undefined) {
    await createMissing(path, creation);
    // A container that shares the directory may have created something else first.
    stats = await statOptional(path);
  }
  if (stats === undefined || !matches(stats))
    throw new SystemError(`hostPath type check failed: ${path} is not a ${noun}`, {
      hint: `create a ${noun} there, or change the volume's hostPath.path or hostPath.type`,
    });
}

/** Creates a file or directory; a failure has the message of the kubelet's FailedMount event. */
async function createMissing(path: string, {call, create}: Creation): Promise<void> {
  try {
    await withFileErrors('creating', path, () => create(path));
  } catch (error) {
    if (!(error instanceof SystemError) || !isSystemCallError(error.cause)) throw error;
    const {cause, hint} = error;
    throw new SystemError(formatPathError(call, path, cause), {cause, hint});
  }
}

/** Returns the stats of a path, following links; undefined if it does not exist. */
async function statOptional(path: string): Promise<Stats | undefined> {
  return await withFileErrors('reading', path, async () => {
    try {
      return await stat(path);
    } catch (error) {
      if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return undefined;
      throw error;
    }
  });
}

/** Creates an empty file, following a dangling link. */
async function createFile(path: string): Promise<void> {
  let target: string | undefined = path;
  for (let links = 0; target !== undefined && links <= MAX_LINKS; links++)
    target = await createFileOrFollow(target);
}

/** Creates the file and returns undefined, or returns the target of a dangling link. */
async function createFileOrFollow(path: string): Promise<string | undefined> {
  try {
    // Fails for an existing file, so that no link is followed and no FIFO blocks.
    await withFile(path, 'wx', FILE_MODE, async (file) => {
      // The umask has restricted the mode passed to open.
      await file.chmod(FILE_MODE);
    });
    return undefined;
  } catch (error) {
    if (!hasErrno(error, 'EEXIST')) throw error;
  }
  if ((await statOptional(path)) !== undefined) return undefined;
  const target = await readlink(path);
  return isAbsolute(target) ? target : `${dirname(path)}/${target}`;
}
