import {mkdirSync, readdirSync, readFileSync, statSync, writeFileSync, type BigIntStats} from 'node:fs';
import {writeFile} from 'node:fs/promises';
import {hasErrno} from '../../../base/errors.js';
import {fileError, withFileErrors} from '../../../base/fs/files.js';
import type {CgroupRoot} from '../../resources/cgroup-root.js';
import {CONTROLLERS, type CgroupValue} from './cgroup-files.js';

/** Hierarchy of one controller or, with cgroup v2, of all controllers. */
export interface Hierarchy {
  readonly path: string;
  /** Controllers whose limits are written. */
  readonly controllers: readonly CgroupValue['controller'][];
  /**
   * If the cgroups of pods are slices of systemd: path of the hierarchy with whose cgroups they are started and stopped, the first one
   * with cgroup v1.
   */
  readonly sliceRoot?: string | undefined;
  /** True if the cgroups of pods have no limits in this hierarchy; runtimes create them nevertheless. */
  readonly isOptional: boolean;
}

/*
 * Cgroups are listed, read, created and written on this thread: they are in memory, and handing a call to another thread takes
 * longer than the call. Limits of memory that may be in use are written on another one, since the kernel first frees memory, which may
 * take as long as a disk, and so are removals.
 */

/**
 * Returns the hierarchies with limits, then the others (cgroup v1).
 *
 * @throws SystemError if they cannot be read.
 */
export function listHierarchies({mount, version, hasSlices = false}: CgroupRoot): readonly Hierarchy[] {
  if (version === 2) {
    const present = splitFields(readText(`${mount}/cgroup.controllers`));
    const controllers = CONTROLLERS.filter((name) => present.includes(name));
    return [{path: mount, controllers, sliceRoot: hasSlices ? mount : undefined, isOptional: false}];
  }
  const names = namesIn(mount);
  const controlled = CONTROLLERS.filter((name) => names.includes(name));
  const others = names.filter(
    (name) =>
      !(CONTROLLERS as readonly string[]).includes(name) &&
      inodeOf(`${mount}/${name}/cgroup.procs`) !== undefined,
  );
  const [first] = [...controlled, ...others];
  const sliceRoot = hasSlices && first !== undefined ? `${mount}/${first}` : undefined;
  return [
    ...controlled.map((name) => ({
      path: `${mount}/${name}`,
      controllers: [name],
      sliceRoot,
      isOptional: false,
    })),
    ...others.map((name) => ({path: `${mount}/${name}`, controllers: [], sliceRoot, isOptional: true})),
  ];
}

/** Returns a path and its ancestors, topmost first: `/a` and `/a/b` for `/a/b`. */
export function levelsOf(path: string): readonly string[] {
  const names = path.split('/').filter((name) => name !== '');
  return names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`);
}

/**
 * Returns the inode of a cgroup; undefined if it does not exist.
 *
 * @throws SystemError if it cannot be read.
 */
export function inodeOf(directory: string): string | undefined {
  return statusOf(directory)?.ino.toString();
}

/**
 * Reports whether a cgroup has children. File systems that do not count the links of directories never report it.
 *
 * @throws SystemError if it cannot be read.
 */
export function hasChildren(directory: string): boolean {
  return (statusOf(directory)?.nlink ?? 0n) > LINKS_OF_EMPTY;
}

/** Links of an empty directory: its name and `.`. Each child adds its `..`. */
const LINKS_OF_EMPTY = 2n;

function statusOf(directory: string): BigIntStats | undefined {
  try {
    return statSync(directory, {bigint: true, throwIfNoEntry: false});
  } catch (error) {
    throw fileError('reading', directory, error);
  }
}

/**
 * Creates a cgroup. Returns false if it already exists.
 *
 * @throws SystemError if it cannot be created.
 */
export function makeCgroup(directory: string): boolean {
  try {
    mkdirSync(directory, 0o755);
    return true;
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return false;
    throw fileError('creating the cgroup', directory, error);
  }
}

/** Writes a value of a cgroup that may have processes, which may take as long as freeing their memory. Rejects with SystemError. */
export async function writeValueInUse(
  directory: string,
  {controller, file, value}: CgroupValue,
): Promise<void> {
  const path = `${directory}/${file}`;
  if (controller !== 'memory') writeValue(path, value);
  else await withFileErrors(`writing ${value} to`, path, () => writeFile(path, value));
}

/**
 * Writes a file of a cgroup, which must not be a limit of memory that is in use.
 *
 * @throws SystemError if it cannot be written.
 */
export function writeValue(path: string, value: string): void {
  try {
    writeFileSync(path, value);
  } catch (error) {
    throw fileError(`writing ${value} to`, path, error);
  }
}

/**
 * Returns the names of directories and links in a directory; none if it does not exist.
 *
 * @throws SystemError if it cannot be read.
 */
export function namesIn(path: string): readonly string[] {
  try {
    const entries = readdirSync(path, {withFileTypes: true});
    return entries.filter((entry) => !entry.isFile()).map(({name}) => name);
  } catch (error) {
    // The kernel returns ENODEV for a cgroup that is removed while it is read.
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'ENODEV')) return [];
    throw fileError('reading', path, error);
  }
}

/**
 * Returns the content of a file; empty if it does not exist.
 *
 * @throws SystemError if it cannot be read.
 */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return '';
    throw fileError('reading', path, error);
  }
}

/** Splits a text at white space. */
export function splitFields(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}
