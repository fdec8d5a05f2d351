import type {Pod} from '../../api/v1.js';
import {podUid, type PodUid} from '../../cri/index.js';

/** Which pod: what every log line, label and path says of it. */
export interface PodRef {
  readonly uid: PodUid;
  readonly name: string;
  readonly namespace: string;
}

/** The reference of a pod that went through toLocalPod or toStaticPod, which set all three. */
export function podRef(pod: Pod): PodRef {
  const {uid, name, namespace} = pod.metadata;
  if (uid === undefined || name === undefined || namespace === undefined)
    throw new Error(`the pod ${JSON.stringify(pod.metadata)} has no identity yet`);
  return {uid: podUid(uid), name, namespace};
}

/** `name_namespace(uid)`, the kubelet's format.Pod. */
export function formatPod({name, namespace, uid}: PodRef): string {
  return `${name}_${namespace}(${uid})`;
}

/** `name_namespace`, which two pods that run at the same time don't share (BuildPodFullName). */
export function podFullName({name, namespace}: PodRef): string {
  return `${name}_${namespace}`;
}

/** `namespace/name`, as messages and logs have it (klog.KObj). */
export function namespacedName({name, namespace}: Pick<PodRef, 'name' | 'namespace'>): string {
  return `${namespace}/${name}`;
}
