import type {PodUid} from '../../../cri/index.js';
import type {CgroupFacts} from '../../contract/node-facts.js';
import type {CgroupRoot} from '../../resources/cgroup-root.js';
import {podCgroupParents, qosCgroups} from '../../resources/pod-cgroup-parent.js';
import {withCreatedCgroups} from './created-cgroups.js';
import {inodeOf, listHierarchies} from './hierarchies.js';

/**
 * Records in the ledger that kcri now owns the existing cgroups of pods that another kubelet has left, and those of the
 * QoS classes above them. Rejects with SystemError.
 */
export async function adoptPodCgroups(
  cgroupRoot: CgroupRoot,
  uids: readonly PodUid[],
  cgroup: CgroupFacts,
): Promise<void> {
  const pods = uids.map((uid) => podCgroupParents(uid, cgroup));
  const hierarchies = listHierarchies(cgroupRoot);
  const everywhere = (path: string): readonly string[] => hierarchies.map(({path: root}) => root + path);
  const present = (path: string): readonly string[] =>
    everywhere(path).filter((directory) => inodeOf(directory) !== undefined);
  // The first hierarchy represents the others of a pod.
  const ofPods = pods.flatMap((paths) => paths.flatMap((path) => present(path).slice(0, 1)));
  if (ofPods.length === 0) return;
  await withCreatedCgroups(cgroupRoot, async (created) => {
    await created.adopt([...qosCgroups(cgroup).flatMap(present), ...ofPods]);
  });
}
