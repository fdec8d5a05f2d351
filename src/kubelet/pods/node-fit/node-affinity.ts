import type {Pod} from '../../../api/types/v1-pod.js';
import {labelOf, matchesNodeSelector, type NodeIdentity} from '../../resources/node-selector.js';

/**
 * Reports whether the pod's nodeSelector and required node affinity match the node (GetRequiredNodeAffinity, Match).
 */
export function matchesNodeAffinity({spec}: Pod, node: NodeIdentity): boolean {
  const selector = Object.entries(spec.nodeSelector ?? {});
  if (!selector.every(([name, value]) => labelOf(node, name) === value)) return false;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || matchesNodeSelector(required, node);
}
