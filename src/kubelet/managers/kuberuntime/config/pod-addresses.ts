import type {Pod} from '../../../../api/types/v1-pod.js';
import {isStaticPod} from '../../sources/static-pod.js';
import type {NodeFacts} from '../../../contract/node-facts.js';

/**
 * Returns the IP addresses of a pod: its sandbox's or, with host network, the node's. A static pod with host network
 * has none, because without an API server the kubelet does not know the node's addresses (generateAPIPodStatus).
 */
export function computePodIps(
  pod: Pod,
  sandboxIps: readonly string[],
  {nodeIps}: Pick<NodeFacts, 'nodeIps'>,
): readonly string[] {
  if (pod.spec.hostNetwork !== true) return sandboxIps;
  return isStaticPod(pod) ? [] : nodeIps;
}
