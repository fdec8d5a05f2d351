import {readdir, rmdir} from 'node:fs/promises';
import {hasErrno, SystemError} from '../../base/errors.js';
import type {CgroupFacts} from '../container/node.js';

const CGROUP_MOUNT = '/sys/fs/cgroup';

/**
 * Removes the cgroups that the runtime made for a pod, at `cgroupParent` of its sandbox's configuration, in
 * every hierarchy. Only empty ones go: a process that is still there keeps its cgroup, and the error says so.
 */
export async function removePodCgroup(cgroup: CgroupFacts, cgroupParent: string): Promise<void> {
  if (cgroupParent === '') return;
  for (const hierarchy of await hierarchies(cgroup)) await removeTree(`${hierarchy}${cgroupParent}`);
}

/** The mount points: one in the unified layout, one for each controller otherwise. */
async function hierarchies({version}: CgroupFacts): Promise<readonly string[]> {
  if (version === 2) return [CGROUP_MOUNT];
  return (await readdir(CGROUP_MOUNT)).map((name) => `${CGROUP_MOUNT}/${name}`);
}

/** A cgroup can only be removed by rmdir, children first; its files are not entries to delete. */
async function removeTree(path: string): Promise<void> {
  try {
    const entries = await readdir(path, {withFileTypes: true});
    for (const entry of entries) if (entry.isDirectory()) await removeTree(`${path}/${entry.name}`);
    await rmdir(path);
  } catch (cause) {
    if (hasErrno(cause, 'ENOENT', 'ENOTDIR')) return;
    throw new SystemError(`removing the cgroup "${path}"`, {
      cause,
      hint: `processes that are still in it are listed in ${path}/cgroup.procs`,
    });
  }
}
