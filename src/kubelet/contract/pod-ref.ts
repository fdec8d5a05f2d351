import type {Pod} from '../../api/types/v1-pod.js';
import {podUid, type PodUid} from '../../cri/index.js';

/** Identity of a pod, as used in log lines, labels and paths. */
export interface PodRef {
  readonly uid: PodUid;
  readonly name: string;
  readonly namespace: string;
}

/**
 * Returns the reference of a pod that toLocalPod or toStaticPod returned, which set all three fields. Throws for any
 * other pod.
 */
export function podRef(pod: Pod): PodRef {
  const {uid, name, namespace} = pod.metadata;
  if (uid === undefined || name === undefined || namespace === undefined)
    throw new Error(`the pod ${JSON.stringify(pod.metadata)} has no identity yet`);
  return {uid: podUid(uid), name, namespace};
}

/** Formats a pod as `name_namespace(uid)` (format.Pod). */
export function formatPod({name, namespace, uid}: PodRef): string {
  return `${name}_${namespace}(${uid})`;
}

/** Returns `name_namespace`, which is unique among pods that run at the same time (BuildPodFullName). */
export function podFullName({name, namespace}: PodRef): string {
  return `${name}_${namespace}`;
}

/** Returns `namespace/name`, the form of messages and logs (klog.KObj). */
export function namespacedName({name, namespace}: Pick<PodRef, 'name' | 'namespace'>): string {
  return `${namespace}/${name}`;
}
