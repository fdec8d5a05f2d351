import type {CgroupRoot} from '../../resources/cgroup-root.js';
import {updateBurstableWeight} from './burstable-weight.js';
import {ensureLevels, missingOf, unlessReadOnly} from './cgroup-levels.js';
import {withCreatedCgroups} from './created-cgroups.js';
import {levelsOf, listHierarchies} from './hierarchies.js';
import {removeCreated} from './remove-created.js';

/**
 * Creates the cgroups `paths` that pods share, with their limits, unless they exist (createNodeAllocatableCgroups,
 * qosContainerManagerImpl Start). Rejects with SystemError.
 */
export async function ensureSharedCgroups(cgroupRoot: CgroupRoot, paths: readonly string[]): Promise<void> {
  const hierarchies = listHierarchies(cgroupRoot);
  const levels = distinctLevels(paths);
  const begun = missingOf(hierarchies.flatMap(({path: root}) => levels.map((level) => root + level)));
  if (begun.length === 0) return;
  await withCreatedCgroups(cgroupRoot, async (created) => {
    await created.begin(begun);
    try {
      for (const hierarchy of hierarchies)
        await unlessReadOnly(hierarchy, async () => {
          await ensureLevels({cgroupRoot, hierarchy, created, begun}, levels);
        });
    } finally {
      // Those that could not be created.
      await created.delete(missingOf(begun));
    }
    for (const path of paths) await updateBurstableWeight(cgroupRoot, hierarchies, path, created);
  });
}

/** Removes the cgroups that pods share and that kcri has created, unless they are in use. Rejects with SystemError. */
export async function removeSharedCgroups(cgroupRoot: CgroupRoot, paths: readonly string[]): Promise<void> {
  const hierarchies = listHierarchies(cgroupRoot);
  await withCreatedCgroups(cgroupRoot, async (created) => {
    for (const hierarchy of hierarchies)
      for (const level of distinctLevels(paths).toReversed()) await removeCreated(hierarchy, level, created);
  });
}

/** Reports whether pods share a cgroup for as long as the kubelet runs: that of all pods, or one above or below it. */
export function isShared({allPods}: CgroupRoot, path: string): boolean {
  if (allPods === undefined) return false;
  return `${path}/`.startsWith(`${allPods.path}/`) || `${allPods.path}/`.startsWith(`${path}/`);
}

/** Returns the paths and their ancestors, each after its parent. */
function distinctLevels(paths: readonly string[]): readonly string[] {
  return [...new Set(paths.flatMap((path) => levelsOf(path)))];
}
