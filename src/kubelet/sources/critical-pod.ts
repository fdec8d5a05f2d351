import type {Pod} from '../../api/types/v1-pod.js';
import {SYSTEM_CRITICAL_PRIORITY} from '../resources/system-critical-priority.js';
import {isStaticPod} from './static-pod.js';

/** Reports whether a pod is static or system-critical; such pods are never evicted (types.IsCriticalPod). */
export function isCriticalPod(pod: Pod): boolean {
  return isStaticPod(pod) || (pod.spec.priority ?? 0) >= SYSTEM_CRITICAL_PRIORITY;
}

/** Reports whether a critical pod has the priority class system-node-critical (types.IsNodeCriticalPod). */
export function isNodeCriticalPod(pod: Pod): boolean {
  return isCriticalPod(pod) && pod.spec.priorityClassName === 'system-node-critical';
}
