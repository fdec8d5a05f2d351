import type {Pod} from '../../api/v1.js';
import {isStaticPod} from '../config/static-pod.js';
import type {NodeFacts} from '../container/node.js';

/**
 * The pod's addresses: its sandbox's or, in the host's network, the node's. A static pod in the host's network
 * has none: without an API server the kubelet does not know the node's (generateAPIPodStatus).
 */
export function podAddresses(
  pod: Pod,
  sandboxIps: readonly string[],
  {nodeIps}: Pick<NodeFacts, 'nodeIps'>,
): readonly string[] {
  if (pod.spec.hostNetwork !== true) return sandboxIps;
  return isStaticPod(pod) ? [] : nodeIps;
}
