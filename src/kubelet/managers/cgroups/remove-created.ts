import {rmdir} from 'node:fs/promises';
import {hasErrno, SystemError} from '../../../base/errors.js';
import {systemErrorMessage} from '../../../base/system-error-message.js';
import type {CreatedCgroups} from './created-cgroups.js';
import {hasChildren, inodeOf} from './hierarchies.js';

/**
 * Removes a cgroup above pods that kcri has created, unless it is in use. One that another process has removed, such as
 * `kcri runtime down`, is only removed from the ledger.
 */
export async function removeCreated(directory: string, created: CreatedCgroups): Promise<void> {
  if (inodeOf(directory) === undefined) {
    await created.delete([directory]);
    return;
  }
  if (hasChildren(directory) || !(await created.has(directory))) return;
  try {
    await rmdir(directory);
  } catch (error) {
    if (hasErrno(error, 'EBUSY', 'ENOTEMPTY')) return;
    throw cgroupError('removing the cgroup', directory, error);
  }
  await created.delete([directory]);
}

/** Creates the error of an operation on a cgroup. */
export function cgroupError(doing: string, path: string, cause: unknown): SystemError {
  return new SystemError(`${doing} "${path}": ${systemErrorMessage(cause)}`, {
    cause,
    hint: `stop the processes listed in ${path}/cgroup.procs`,
  });
}
