import {readFile} from 'node:fs/promises';
import {hasErrno} from '../../../base/errors.js';
import {fileError} from '../../../base/fs/files.js';
import type {CgroupRoot} from '../../resources/cgroup-root.js';
import {inodeOf, listHierarchies, namesIn, splitFields} from './hierarchies.js';

/**
 * Reports whether one of the containers and sandboxes `ids`, which the runtime reports as running, has no process left in
 * the cgroup `path` of their pod: the runtime learns of an exit tens of milliseconds later. Never reports it for a runtime
 * that does not name cgroups after IDs. Rejects with SystemError.
 */
export async function hasEndedProcesses(
  cgroupRoot: CgroupRoot,
  path: string,
  ids: readonly string[],
): Promise<boolean> {
  const [hierarchy] = listHierarchies(cgroupRoot);
  if (hierarchy === undefined) return false;
  const directory = hierarchy.path + path;
  if (inodeOf(directory) === undefined) return false;
  const names = namesIn(directory);
  const own = names.filter((name) => ids.some((id) => name.includes(id)));
  if (names.length > 0 && own.length === 0) return false;
  if (own.length < ids.length) return true;
  for (const name of own) if (!(await hasProcesses(`${directory}/${name}`))) return true;
  return false;
}

/** Reports whether there is a process in the cgroup or its children. Rejects with SystemError. */
export async function hasProcesses(directory: string): Promise<boolean> {
  if ((await readPids(directory)).length > 0) return true;
  for (const child of namesIn(directory)) if (await hasProcesses(`${directory}/${child}`)) return true;
  return false;
}

/** Returns the PIDs of the processes in a cgroup, without those in its children. Rejects with SystemError. */
export async function readPids(directory: string): Promise<readonly number[]> {
  try {
    return splitFields(await readFile(`${directory}/cgroup.procs`, 'utf8')).map(Number);
  } catch (error) {
    // The cgroup does not exist, is being removed, or is threaded: then its parent lists the processes (cgroup v2).
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'ENODEV', 'EOPNOTSUPP')) return [];
    throw fileError('reading the processes of the cgroup', directory, error);
  }
}
