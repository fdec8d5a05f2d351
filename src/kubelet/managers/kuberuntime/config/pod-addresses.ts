import type {Pod} from '../../../../api/types/v1-pod.js';
import {hasApiServer} from '../../../sources/static-pod.js';
import type {NodeFacts} from '../../../contract/node-facts.js';

/**
 * Returns the IP addresses of a pod: its sandbox's or, with host network, the node's. A static pod with host network
 * has none without an API server, since the kubelet does not know the node's addresses then (generateAPIPodStatus).
 */
export function computePodIps(
  pod: Pod,
  sandboxIps: readonly string[],
  node: Pick<NodeFacts, 'hostIps' | 'inCluster'>,
): readonly string[] {
  if (pod.spec.hostNetwork !== true) return sandboxIps;
  return hasApiServer(pod, node) ? node.hostIps.current : [];
}
