import {execFileSync} from 'node:child_process';
import {rmdirSync} from 'node:fs';
import {basename} from 'node:path';
import type {CgroupFacts} from '../../../src/kubelet/contract/node-facts.js';
import {podCgroupParents, qosCgroups} from '../../../src/kubelet/resources/pod-cgroup-parent.js';
import {shouldUseSystemdCgroup} from '../../../src/private-runtime/host/host-capabilities.js';
import type {PodUid} from '../../../src/cri/index.js';
import {listCgroupsAt} from './leftovers.js';

/** True if private runtimes on this machine use the systemd cgroup driver. */
export const HAS_SLICES = shouldUseSystemdCgroup();

function factsOf(root: string): CgroupFacts {
  return {
    version: HAS_SLICES ? 2 : 1,
    driver: HAS_SLICES ? 'systemd' : 'cgroupfs',
    root,
    swapAccounting: false,
  };
}

/** Returns the cgroups that a pod may have below a cgroup root, one per QoS class. */
export function listPodCgroups(root: string, uid: string): readonly string[] {
  return podCgroupParents(uid as PodUid, factsOf(root));
}

/** Returns the cgroup of a pod below a cgroup root. */
export function podCgroup(root: string, qos: 'guaranteed' | 'burstable' | 'besteffort', uid: string): string {
  const [guaranteed = '', burstable = '', bestEffort = ''] = listPodCgroups(root, uid);
  return {guaranteed, burstable, besteffort: bestEffort}[qos];
}

/** Returns the path that the cgroup of a pod would have without systemd, as in recordings. */
export function withoutSlices(cgroup: string): string {
  if (!cgroup.endsWith('.slice')) return cgroup;
  const names = basename(cgroup, '.slice').split('-');
  return `/${names.map((name) => name.replaceAll('_', '-')).join('/')}`;
}

/** Returns the cgroup in which containerd runs a container of a pod. */
export function containerCgroup(ofPod: string, id: string): string {
  return HAS_SLICES ? `${ofPod}/cri-containerd-${id}.scope` : `${ofPod}/${id}`;
}

/** Removes the cgroup root of a test with the cgroups of the QoS classes; throws if pods are left. */
export function removeCgroupRoot(root: string): void {
  const [allPods = '', ...classes] = qosCgroups(factsOf(root));
  const levels = [...classes, allPods, allPods.slice(0, allPods.lastIndexOf('/'))];
  for (const level of levels.filter((path) => path !== ''))
    for (const path of listCgroupsAt(level)) removeCgroup(path);
}

function removeCgroup(path: string): void {
  rmdirSync(path);
  if (HAS_SLICES) execFileSync('systemctl', ['stop', basename(path)]);
}
