import {readlink, stat} from 'node:fs/promises';
import type {Stats} from 'node:fs';
import {dirname, isAbsolute} from 'node:path';
import type {HostPathType, HostPathVolumeSource} from '../../api/v1-volumes.js';
import {hasErrno, SystemError} from '../../base/errors.js';
import {withFile, withFileErrors} from '../../base/files.js';
import {makeDirectoryPath} from '../../base/make-directory-path.js';
import type {VolumePlugin} from './volume-plugin.js';

/** How a type is checked; the kubelet takes everything but a directory for a file. */
interface TypeCheck {
  /** As it reads in `is not a …`. */
  readonly noun: string;
  readonly matches: (stats: Stats) => boolean;
  /** Makes what is missing; what is there by then is left as it is. */
  readonly make?: (path: string) => Promise<void>;
}

const DIRECTORY_MODE = 0o755;
const FILE_MODE = 0o644;
/** As many as the kernel follows. */
const MOST_LINKS = 40;

const DIRECTORY: TypeCheck = {noun: 'directory', matches: (stats) => stats.isDirectory()};
const FILE: TypeCheck = {noun: 'file', matches: (stats) => !stats.isDirectory()};

const CHECKS: Readonly<Record<Exclude<HostPathType, ''>, TypeCheck>> = {
  Directory: DIRECTORY,
  DirectoryOrCreate: {
    ...DIRECTORY,
    make: async (path) => {
      await makeDirectoryPath(path, DIRECTORY_MODE);
    },
  },
  File: FILE,
  FileOrCreate: {
    ...FILE,
    make: makeFile,
  },
  Socket: {noun: 'socket file', matches: (stats) => stats.isSocket()},
  CharDevice: {noun: 'character device', matches: (stats) => stats.isCharacterDevice()},
  BlockDevice: {noun: 'block device', matches: (stats) => stats.isBlockDevice()},
};

/** What is on the node already: no directory of the pod's, and never given to an fsGroup. */
export const hostPath: VolumePlugin<HostPathVolumeSource> = {
  readOnly: false,
  path: (_node, {source}) => source.path,
  setUp: async (_host, {source}) => {
    await setUpHostPath(source);
  },
};

/**
 * Checks what is at a hostPath's path, and makes it for the two types that say so (hostpath checkType). Without a type
 * it does nothing: the runtime sees for itself. Rejects with SystemError in the kubelet's words.
 */
export async function setUpHostPath({path, type = ''}: HostPathVolumeSource): Promise<void> {
  if (type === '') return;
  const {noun, matches, make} = CHECKS[type];
  let stats = await statOptional(path);
  if (stats === undefined && make !== undefined) {
    await withFileErrors('making', path, () => make(path));
    // A container that shares the directory may have been faster.
    stats = await statOptional(path);
  }
  if (stats === undefined || !matches(stats))
    throw new SystemError(`hostPath type check failed: ${path} is not a ${noun}`, {
      hint: `make it a ${noun}, or change the volume's hostPath.path or hostPath.type`,
    });
}

/** What is at the path, links followed; undefined when it isn't there. */
async function statOptional(path: string): Promise<Stats | undefined> {
  return await withFileErrors('looking at', path, async () => {
    try {
      return await stat(path);
    } catch (error) {
      if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return undefined;
      throw error;
    }
  });
}

/** Makes an empty file, also where a link leads that leads nowhere yet. */
async function makeFile(path: string): Promise<void> {
  let target: string | undefined = path;
  for (let links = 0; target !== undefined && links <= MOST_LINKS; links++)
    target = await makeFileOrFollow(target);
}

/** Makes the file, or gives the path that stands in a link there; undefined when there is nothing more to make. */
async function makeFileOrFollow(path: string): Promise<string | undefined> {
  try {
    // Opens only what it makes: no link, and no pipe that nobody reads.
    await withFile(path, 'wx', FILE_MODE, async (file) => {
      // The umask has had its say at the opening.
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
