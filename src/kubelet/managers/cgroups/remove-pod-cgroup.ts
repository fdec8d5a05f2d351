import {writeFile} from 'node:fs/promises';
import {dirname} from 'node:path';
import {pause} from '../../../base/async/pause.js';
import type {Clock} from '../../../base/clock.js';
import {hasErrno, SystemError} from '../../../base/errors.js';
import type {CgroupRoot} from '../../resources/cgroup-root.js';
import {updateBurstableWeight} from './burstable-weight.js';
import {readPids} from './cgroup-processes.js';
import {CreatedCgroups, withCreatedCgroups} from './created-cgroups.js';
import {hasChildren, inodeOf, levelsOf, listHierarchies, namesIn, type Hierarchy} from './hierarchies.js';
import {cgroupError, removalError, removeCreated, removeDirectory} from './remove-created.js';
import {isShared} from './shared-cgroups.js';

/** Maximum number of attempts to kill the processes of a cgroup and to remove it (tryKillingCgroupProcesses). */
const TRIES = 5;
/** Time for the kernel to remove killed processes from their cgroup, in ms. */
const WAIT_MS = 100;

/**
 * Removes a pod's cgroups (those of `paths` that exist, see podCgroupParents) in every hierarchy, and their empty
 * parents that kcri has created, except those that a running kubelet keeps (podContainerManagerImpl Destroy). Kills the remaining processes in a cgroup that kcri
 * has created, such as those of a stuck runtime, and waits half a second for those in any other cgroup. Resolves
 * with false if there was none. Rejects with SystemError that names the cgroup in use.
 */
export async function removePodCgroup(
  cgroupRoot: CgroupRoot,
  paths: readonly string[],
  clock: Clock,
): Promise<boolean> {
  const hierarchies = listHierarchies(cgroupRoot);
  const roots = hierarchies.map(({path}) => path);
  const ledger = new CreatedCgroups(cgroupRoot.rootDir);
  const all = roots.flatMap((root) => paths.map((path) => root + path));
  if (!(await ledger.hasAny(all)) && all.every((directory) => inodeOf(directory) === undefined)) return false;
  for (const path of paths) {
    const directories = roots.map((root) => root + path);
    const isOwn = await ledger.isOwn(directories);
    await removeCgroups({hierarchies, path, isOwn}, clock);
  }
  await withCreatedCgroups(cgroupRoot, async (created) => {
    for (const hierarchy of hierarchies)
      for (const parent of parentsOf(paths))
        if (!isShared(cgroupRoot, parent)) await removeCreated(hierarchy, parent, created);
    for (const path of paths) await updateBurstableWeight(cgroupRoot, hierarchies, dirname(path), created);
    // Last, so that an interrupted removal is repeated.
    await created.delete(all);
  });
  return true;
}

/** Returns the levels above the paths, each before its parent. */
function parentsOf(paths: readonly string[]): readonly string[] {
  const levels = new Set(paths.flatMap((path) => levelsOf(dirname(path))));
  return [...levels].sort((a, b) => b.length - a.length);
}

/** A pod's cgroup in all hierarchies. */
interface PodCgroups {
  readonly hierarchies: readonly Hierarchy[];
  readonly path: string;
  /** True if kcri has created them. */
  readonly isOwn: boolean;
}

async function removeCgroups({hierarchies, path, isOwn}: PodCgroups, clock: Clock): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      for (const hierarchy of hierarchies) await removeEmpty(hierarchy, path);
      const inUse = hierarchies.filter(({path: root}) => inodeOf(root + path) !== undefined);
      if (isOwn) for (const {path: root} of inUse) await killProcesses(root + path);
      for (const hierarchy of inUse) await removeTree(hierarchy, path);
      return;
    } catch (error) {
      if (!(error instanceof SystemError && hasErrno(error.cause, 'EBUSY')) || tries === TRIES) throw error;
      await pause(clock, WAIT_MS);
    }
  }
}

/** Kills the processes in a cgroup and its children: at once where the kernel can, so that none escapes by forking. */
async function killProcesses(directory: string): Promise<void> {
  if (!(await killAtOnce(directory))) await killEach(directory);
}

/** Kills through cgroup.kill (cgroup v2 of Linux 5.14). Resolves with false if there is none. */
async function killAtOnce(directory: string): Promise<boolean> {
  try {
    await writeFile(`${directory}/cgroup.kill`, '1', {flag: 'r+'});
    return true;
  } catch (error) {
    // A threaded cgroup, and one that is being removed, refuse it.
    if (hasErrno(error, 'ENOENT', 'ENODEV', 'EOPNOTSUPP')) return false;
    throw cgroupError('killing the processes of the cgroup', directory, error);
  }
}

/** Kills the processes that a cgroup and its children list. */
async function killEach(directory: string): Promise<void> {
  for (const child of namesIn(directory)) await killEach(`${directory}/${child}`);
  const pids = await readPids(directory);
  // A process outside of the PID namespace has the PID 0, with which kill(2) addresses kcri itself.
  for (const pid of pids.filter((each) => each > 0)) kill(pid, directory);
  if (pids.length > 0) await thaw(directory);
}

function kill(pid: number, directory: string): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!hasErrno(error, 'ESRCH'))
      throw cgroupError(`killing process ${pid} in the cgroup`, directory, error);
  }
}

/** Thaws frozen processes, which cannot die while they are frozen (cgroup v1). */
async function thaw(directory: string): Promise<void> {
  try {
    await writeFile(`${directory}/freezer.state`, 'THAWED', {flag: 'r+'});
  } catch (error) {
    // Only one hierarchy has this file.
    if (!hasErrno(error, 'ENOENT', 'ENODEV')) throw cgroupError('thawing the cgroup', directory, error);
  }
}

/** Removes a cgroup unless it has children or processes. */
async function removeEmpty(hierarchy: Hierarchy, path: string): Promise<void> {
  const directory = hierarchy.path + path;
  if (inodeOf(directory) === undefined || hasChildren(directory)) return;
  try {
    await removeDirectory(hierarchy, path);
  } catch (error) {
    if (!hasErrno(error, 'EBUSY', 'ENOTEMPTY', 'ENOENT')) throw removalError(directory, error);
  }
}

/** Removes a cgroup and its children with rmdir; the files of a cgroup cannot be deleted. */
async function removeTree(hierarchy: Hierarchy, path: string): Promise<void> {
  for (const child of namesIn(hierarchy.path + path)) await removeTree(hierarchy, `${path}/${child}`);
  try {
    await removeDirectory(hierarchy, path);
  } catch (error) {
    if (!hasErrno(error, 'ENOENT', 'ENOTDIR')) throw removalError(hierarchy.path + path, error);
  }
}
