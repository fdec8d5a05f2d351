import {readdirSync, rmdirSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {hasErrno} from '../../base/errors.js';
import {currentMounts} from './mounts.js';
import {listProcesses, type RunningProcess} from '../process/processes.js';

/** Parent cgroups of pods. A running kubelet keeps its own, even if they are empty. */
const POD_PARENTS = ['/k8s.io', '/kubepods/burstable', '/kubepods/besteffort', '/kubepods'];

/** Reports whether the process is in the cgroup or below it, in any hierarchy. */
export function isInCgroup(cgroup: string, {cgroups}: RunningProcess): boolean {
  return cgroups
    .split('\n')
    .map((line) => line.slice(line.indexOf(':', line.indexOf(':') + 1) + 1))
    .some((path) => path === cgroup || path.startsWith(`${cgroup}/`));
}

/**
 * Removes the containers' cgroups in every hierarchy, and those of their parents that become empty. The kernel refuses
 * to remove a cgroup that contains a process or another cgroup.
 */
export function removeCgroups(cgroups: readonly string[]): void {
  const kubeletRuns = listProcesses().some(({argv}) => /(^|\/)kubelet$/.test(argv[0] ?? ''));
  const isInUse = (cgroup: string): boolean => kubeletRuns && POD_PARENTS.includes(cgroup);
  for (const hierarchy of hierarchies()) {
    for (const cgroup of cgroups) {
      removeDeep(join(hierarchy, cgroup));
      for (let parent = dirname(cgroup); parent !== '/' && !isInUse(parent); parent = dirname(parent)) {
        if (!removeEmpty(join(hierarchy, parent))) break;
      }
    }
    for (const parent of POD_PARENTS) if (!isInUse(parent)) removeEmpty(join(hierarchy, parent));
  }
}

function hierarchies(): string[] {
  return currentMounts()
    .filter(({fileSystem}) => fileSystem === 'cgroup' || fileSystem === 'cgroup2')
    .map(({path}) => path);
}

function removeDeep(dir: string): void {
  for (const child of childrenOf(dir)) removeDeep(join(dir, child));
  removeEmpty(dir);
}

function childrenOf(dir: string): string[] {
  try {
    return readdirSync(dir, {withFileTypes: true})
      .filter((entry) => entry.isDirectory())
      .map(({name}) => name);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Removes a cgroup; returns false if it is in use. */
function removeEmpty(dir: string): boolean {
  try {
    rmdirSync(dir);
    return true;
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return true;
    if (hasErrno(error, 'EBUSY', 'ENOTEMPTY')) return false;
    throw error;
  }
}
