import type {NodeFacts} from '../contract/node-facts.js';
import type {CgroupLimits} from '../contract/resources/cgroup-limits.js';
import {allPodsLimits} from './node-allocatable.js';
import {podsCgroup} from './pod-cgroup-parent.js';

/** The node's cgroup filesystems, and the root directory that records the cgroups created by kcri. */
export interface CgroupRoot {
  readonly mount: string;
  readonly version: 1 | 2;
  readonly rootDir: string;
  /** True if the cgroups of pods are slices of systemd. */
  readonly hasSlices?: boolean;
  /** Cgroup of all pods and its limits, which it gets when it is created; none by default. */
  readonly allPods?: {readonly path: string; readonly limits: Partial<CgroupLimits>} | undefined;
}

/** Returns the root of the pods' cgroups; undefined when kcri creates none. */
export function getCgroupRoot(node: NodeFacts): CgroupRoot | undefined {
  const {cgroupMount: mount, cgroup, rootDir} = node;
  if (mount === undefined) return undefined;
  const limits = allPodsLimits(node);
  return {
    ...{
      mount,
      version: cgroup.version,
      rootDir,
      hasSlices: cgroup.driver === 'systemd',
    },
    ...(limits && {allPods: {path: podsCgroup(cgroup), limits}}),
  };
}
