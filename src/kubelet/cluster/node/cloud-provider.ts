import type {ObjectMeta} from '../../../api/types/v1-meta.js';
import type {NodeAddress, Taint} from '../../../api/types/v1-node.js';
import {isUnspecifiedIp} from '../../../base/net/ip-address.js';
import {omit} from '../../../base/omit.js';
import type {NodeSettings} from '../../contract/cluster/node-settings.js';
import type {NodeFacts} from '../../contract/node-facts.js';

type AddressFacts = Pick<NodeFacts, 'nodeName' | 'nodeIps' | 'hostIps'>;
type CloudSettings = Pick<NodeSettings, 'externalCloudProvider'>;

const PROVIDED_NODE_IP = 'alpha.kubernetes.io/provided-node-ip';

/** Taint that a cloud controller manager removes when it has initialized the node. */
const UNINITIALIZED: Taint = {
  key: 'node.cloudprovider.kubernetes.io/uninitialized',
  value: 'true',
  effect: 'NoSchedule',
};

/** Returns the taints that the node is registered with (Kubelet.initialNode). */
export function initialTaints({
  externalCloudProvider,
  registerWithTaints,
}: CloudSettings & Pick<NodeSettings, 'registerWithTaints'>): readonly Taint[] {
  return externalCloudProvider ? [...registerWithTaints, UNINITIALIZED] : registerWithTaints;
}

/**
 * Returns the addresses of the node; undefined to keep the previous ones, which a cloud controller manager may have set
 * (nodestatus.NodeAddress).
 */
export function computeNodeAddresses(
  {nodeName, nodeIps, hostIps}: AddressFacts,
  {externalCloudProvider}: CloudSettings,
  previous: readonly NodeAddress[],
): readonly NodeAddress[] | undefined {
  if (externalCloudProvider && previous.length > 0) return undefined;
  const isUnknown = hostIps.current.length === 0 && !(externalCloudProvider && nodeIps.length === 0);
  if (isUnknown) return undefined;
  return [
    ...hostIps.current.map((address) => ({type: 'InternalIP', address}) as const),
    {type: 'Hostname', address: nodeName},
  ];
}

/** Returns the annotation that tells a cloud controller manager the values of --node-ip; empty if there are none. */
export function providedNodeIp(
  {nodeIps, hostIps}: Pick<NodeFacts, 'nodeIps' | 'hostIps'>,
  {externalCloudProvider}: CloudSettings,
): Readonly<Record<string, string>> {
  const isSpecified = nodeIps.some((ip) => !isUnspecifiedIp(ip)) && hostIps.current.length > 0;
  return externalCloudProvider && isSpecified ? {[PROVIDED_NODE_IP]: nodeIps.join(',')} : {};
}

/** Returns the metadata of the Node with the current annotation, or without it; see providedNodeIp. */
export function updateProvidedNodeIp(
  metadata: ObjectMeta,
  node: Pick<NodeFacts, 'nodeIps' | 'hostIps'>,
  settings: CloudSettings,
): ObjectMeta {
  const {annotations = {}} = metadata;
  const updated = {...omit(annotations, PROVIDED_NODE_IP), ...providedNodeIp(node, settings)};
  const isEmpty = Object.keys(updated).length + Object.keys(annotations).length === 0;
  return isEmpty ? metadata : {...metadata, annotations: updated};
}
