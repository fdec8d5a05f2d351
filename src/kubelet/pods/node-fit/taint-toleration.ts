import type {Taint} from '../../../api/types/v1-node.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {Toleration} from '../../../api/types/v1-scheduling.js';

/** Reports whether the pod tolerates all NoExecute taints (FindMatchingUntoleratedTaint). */
export function toleratesTaints(pod: Pod, taints: readonly Taint[]): boolean {
  return taints.every((taint) => taint.effect !== 'NoExecute' || toleratesTaint(pod, taint));
}

/** Reports whether the pod tolerates a taint. */
export function toleratesTaint({spec: {tolerations = []}}: Pod, taint: Taint): boolean {
  return tolerations.some((toleration) => tolerates(toleration, taint));
}

/** Reports whether the toleration matches the taint; an empty key or effect matches any (ToleratesTaint). */
function tolerates({key = '', operator, value = '', effect}: Toleration, taint: Taint): boolean {
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  return operator === 'Exists' || value === (taint.value ?? '');
}
