import {readdir, rmdir} from 'node:fs/promises';
import type {Clock} from '../../base/clock.js';
import {hasErrno, SystemError} from '../../base/errors.js';
import {systemReason} from '../../base/files.js';
import type {CgroupFacts} from '../container/node.js';

const CGROUP_MOUNT = '/sys/fs/cgroup';

/** The kernel counts a process out of its cgroup some moments after it has ended. */
const BUSY_TRIES = 5;
const BUSY_WAIT_MS = 100;

/**
 * Removes a pod's cgroups, those of `parents` (see podCgroupParents) that there are, in every hierarchy below
 * `mount`. Only empty ones go, with half a second's patience: a process that is still there keeps its cgroup.
 * Rejects with SystemError, which names the one that is in use.
 */
export async function removePodCgroup(
  cgroup: Pick<CgroupFacts, 'version'>,
  parents: readonly string[],
  clock: Clock,
  mount = CGROUP_MOUNT,
): Promise<void> {
  for (const hierarchy of await hierarchies(cgroup, mount))
    for (const parent of parents) await removeTree(`${hierarchy}${parent}`, clock);
}

/** The mount points: one in the unified layout, one for each controller otherwise. */
async function hierarchies(
  {version}: Pick<CgroupFacts, 'version'>,
  mount: string,
): Promise<readonly string[]> {
  if (version === 2) return [mount];
  return (await readdir(mount)).map((name) => `${mount}/${name}`);
}

/** A cgroup can only be removed by rmdir, children first; its files are not entries to delete. */
async function removeTree(path: string, clock: Clock): Promise<void> {
  for (const child of await children(path)) await removeTree(`${path}/${child}`, clock);
  for (let tries = 1; ; tries++) {
    try {
      await rmdir(path);
      return;
    } catch (error) {
      if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return;
      if (!hasErrno(error, 'EBUSY') || tries === BUSY_TRIES) throw cgroupError(path, error);
      await clock.sleep(BUSY_WAIT_MS);
    }
  }
}

async function children(path: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(path, {withFileTypes: true});
    return entries.filter((entry) => entry.isDirectory()).map(({name}) => name);
  } catch (error) {
    // The kernel answers ENODEV for a cgroup that goes while it is read.
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'ENODEV')) return [];
    throw cgroupError(path, error);
  }
}

function cgroupError(path: string, cause: unknown): SystemError {
  return new SystemError(`removing the cgroup "${path}": ${systemReason(cause)}`, {
    cause,
    hint: `processes that are still in it are listed in ${path}/cgroup.procs`,
  });
}
