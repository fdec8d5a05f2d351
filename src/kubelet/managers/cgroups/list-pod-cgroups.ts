import {podOfCgroup} from '../../../base/host/pod-of-cgroup.js';
import type {CgroupFacts} from '../../contract/node-facts.js';
import type {CgroupRoot} from '../../resources/cgroup-root.js';
import {qosCgroups} from '../../resources/pod-cgroup-parent.js';
import {hasProcesses} from './cgroup-processes.js';
import {listHierarchies, namesIn} from './hierarchies.js';

/**
 * Returns the directories of the pods' cgroups in all hierarchies by the UIDs in their names (podContainerManagerImpl
 * GetAllPodsFromCgroups).
 *
 * @throws SystemError if they cannot be read.
 */
export function listPodCgroups(
  cgroupRoot: CgroupRoot,
  cgroup: CgroupFacts,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const {path: root} of listHierarchies(cgroupRoot))
    for (const parent of qosCgroups(cgroup))
      for (const name of namesIn(root + parent)) {
        const uid = podOfName(name, parent);
        if (uid !== undefined) found.set(uid, [...(found.get(uid) ?? []), `${root}${parent}/${name}`]);
      }
  return found;
}

/** Returns the UID in the name of a cgroup. Slices repeat the names of their parents, also those above all pods. */
function podOfName(name: string, parent: string): string | undefined {
  const above = /([^/]*)kubepods[^/]*\.slice$/.exec(parent)?.[1] ?? '';
  return name.startsWith(above) ? podOfCgroup(name.slice(above.length)) : undefined;
}

/** Reports whether there is a process in one of the cgroups or below. Rejects with SystemError. */
export async function haveProcesses(directories: readonly string[]): Promise<boolean> {
  for (const directory of directories) if (await hasProcesses(directory)) return true;
  return false;
}
