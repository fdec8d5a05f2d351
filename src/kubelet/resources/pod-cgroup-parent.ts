import type {Pod} from '../../api/types/v1-pod.js';
import type {PodQOSClass} from '../../api/types/v1-status.js';
import type {PodUid} from '../../cri/index.js';
import type {CgroupFacts} from '../contract/node-facts.js';
import {podRef} from '../contract/pod-ref.js';
import {computePodQosClass} from './qos-class.js';

/** Cgroups of the QoS classes below /kubepods; Guaranteed pods have none. */
const QOS_CGROUPS: Readonly<Record<PodQOSClass, readonly string[]>> = {
  Guaranteed: [],
  Burstable: ['burstable'],
  BestEffort: ['besteffort'],
};

/**
 * Returns the cgroup of a pod, the parent of its containers' cgroups, in the form of the cgroup driver
 * (podContainerManagerImpl GetPodContainerName): `/kubepods/burstable/pod<uid>` or
 * `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<uid>.slice`.
 */
export function podCgroupParent(pod: Pod, cgroup: CgroupFacts): string {
  return cgroupName(podRef(pod).uid, QOS_CGROUPS[computePodQosClass(pod)], cgroup);
}

/**
 * Returns every cgroup that a pod with this UID may have, one per QoS class, for when its class is unknown or has
 * changed.
 */
export function podCgroupParents(uid: PodUid, cgroup: CgroupFacts): readonly string[] {
  return Object.values(QOS_CGROUPS).map((parents) => cgroupName(uid, parents, cgroup));
}

/** Returns the cgroup of all pods and those of the QoS classes, topmost first. */
export function qosCgroups(cgroup: CgroupFacts): readonly string[] {
  return [[], ...Object.values(QOS_CGROUPS).filter(({length}) => length > 0)].map((parents) =>
    pathOf(parents, cgroup),
  );
}

/** Reports whether a path is that of the cgroup of a QoS class, with any cgroup driver. */
export function isQosCgroup(path: string, name: 'burstable' | 'besteffort'): boolean {
  return path.endsWith(`/${name}`) || path.endsWith(`-${name}.slice`);
}

/** Returns the cgroup of all pods (GetPodCgroupRoot). */
export function podsCgroup(cgroup: CgroupFacts): string {
  return pathOf([], cgroup);
}

/**
 * Returns the names of a cgroup, topmost first, that a setting such as systemReservedCgroup names by its path. With slices only the
 * last name counts, in which `kube-reserved.slice` and `/kube-reserved` are the same (cgroupCommon CgroupName).
 */
export function namesOfCgroup(path: string, hasSlices: boolean): readonly string[] {
  const names = path.split('/').filter((name) => name !== '');
  if (!hasSlices) return names;
  const slice = (names.at(-1) ?? '').replace(/\.slice$/, '');
  return slice.split('-').map((name) => name.replaceAll('_', '-'));
}

/** Returns the path of the cgroup with these names (cgroupCommon Name). */
export function pathOfCgroup(names: readonly string[], hasSlices: boolean): string {
  return hasSlices ? slicePath(names) : `/${names.join('/')}`;
}

function cgroupName(uid: PodUid, qosParents: readonly string[], cgroup: CgroupFacts): string {
  return pathOf([...qosParents, `pod${uid}`], cgroup);
}

/** Returns the path of a cgroup below that of all pods. */
function pathOf(below: readonly string[], {driver, root}: CgroupFacts): string {
  const names = [...root.split('/').filter((name) => name !== ''), 'kubepods', ...below];
  return pathOfCgroup(names, driver === 'systemd');
}

/** Returns the path of a slice. Dashes in names are escaped, because systemd nests slices at dashes. */
function slicePath(names: readonly string[]): string {
  const escaped = names.map((name) => name.replaceAll('-', '_'));
  return escaped.map((_, index) => `/${escaped.slice(0, index + 1).join('-')}.slice`).join('');
}
