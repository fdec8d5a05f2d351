import type {Pod} from '../../api/v1.js';
import type {PodQOSClass} from '../../api/v1-status.js';
import type {PodUid} from '../../cri/index.js';
import type {CgroupFacts} from '../container/node.js';
import {podRef} from '../container/pod-ref.js';
import {podQosClass} from './qos.js';

/** Guaranteed pods stand directly below /kubepods. */
const QOS_CGROUPS: Readonly<Record<PodQOSClass, readonly string[]>> = {
  Guaranteed: [],
  Burstable: ['burstable'],
  BestEffort: ['besteffort'],
};

/**
 * The cgroup below which the runtime makes those of the pod's containers, in the form of its driver
 * (podContainerManagerImpl GetPodContainerName): `/kubepods/burstable/pod<uid>` or
 * `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<uid>.slice`.
 */
export function podCgroupParent(pod: Pod, cgroup: CgroupFacts): string {
  return cgroupName(podRef(pod).uid, QOS_CGROUPS[podQosClass(pod)], cgroup);
}

/**
 * Every podCgroupParent that a pod with this UID can have had: its class may have changed with its manifest, or
 * not be known any more.
 */
export function podCgroupParents(uid: PodUid, cgroup: CgroupFacts): readonly string[] {
  return Object.values(QOS_CGROUPS).map((parents) => cgroupName(uid, parents, cgroup));
}

function cgroupName(uid: PodUid, qosParents: readonly string[], {driver, root}: CgroupFacts): string {
  const names = [...root.split('/').filter((name) => name !== ''), 'kubepods', ...qosParents, `pod${uid}`];
  return driver === 'systemd' ? slicePath(names) : `/${names.join('/')}`;
}

/** systemd nests slices by the dashes in their names, so that a dash of ours must be something else. */
function slicePath(names: readonly string[]): string {
  const escaped = names.map((name) => name.replaceAll('-', '_'));
  return escaped.map((_, index) => `/${escaped.slice(0, index + 1).join('-')}.slice`).join('');
}
