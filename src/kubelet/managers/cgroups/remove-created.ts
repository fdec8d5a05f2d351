import {rmdir} from 'node:fs/promises';
import {hasErrno, SystemError} from '../../../base/errors.js';
import {systemErrorMessage} from '../../../base/system-error-message.js';
import {ifPresent} from '../../../base/fs/files.js';
import {hasProcesses} from './cgroup-processes.js';
import type {CreatedCgroups} from './created-cgroups.js';
import {hasChildren, inodeOf, readText, type Hierarchy} from './hierarchies.js';
import {stopSlice} from './systemd-slices.js';

/**
 * Removes a cgroup above pods that kcri has created, unless it is in use. One that another process has removed, such as
 * `kcri runtime down`, is only removed from the ledger.
 */
export async function removeCreated(
  hierarchy: Hierarchy,
  path: string,
  created: CreatedCgroups,
): Promise<void> {
  const directory = hierarchy.path + path;
  if (inodeOf(directory) === undefined) {
    await created.delete([directory]);
    return;
  }
  if (hasChildren(directory) || !(await created.has(directory))) return;
  try {
    await removeDirectory(hierarchy, path);
  } catch (error) {
    if (hasErrno(error, 'EBUSY', 'ENOTEMPTY')) return;
    throw removalError(directory, error);
  }
  await created.delete([directory]);
}

/**
 * Removes a cgroup without children or processes, and its slice. Systemd kills the processes of a slice that it stops, so one with
 * processes is left to rmdir(2), which rejects with EBUSY. Rejects with the error of the system call, or SystemError.
 */
export async function removeDirectory(hierarchy: Hierarchy, path: string): Promise<void> {
  const directory = hierarchy.path + path;
  if (hierarchy.sliceRoot === hierarchy.path && path.endsWith('.slice') && !(await isPopulated(directory)))
    await stopSlice(path);
  await ifPresent(() => rmdir(directory));
}

/** Reports whether there are processes in a cgroup or its children. */
async function isPopulated(directory: string): Promise<boolean> {
  const events = readText(`${directory}/cgroup.events`);
  // cgroup v1 does not have the file.
  return events === '' ? await hasProcesses(directory) : /^populated 1$/m.test(events);
}

/** Returns the error of a removal, which may be that of systemd. */
export function removalError(directory: string, error: unknown): SystemError {
  return error instanceof SystemError ? error : cgroupError('removing the cgroup', directory, error);
}

/** Creates the error of an operation on a cgroup. */
export function cgroupError(doing: string, path: string, cause: unknown): SystemError {
  return new SystemError(`${doing} "${path}": ${systemErrorMessage(cause)}`, {
    cause,
    hint: `stop the processes listed in ${path}/cgroup.procs`,
  });
}
