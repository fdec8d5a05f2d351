import {resolveNodeName, type NodeAddressFacts} from '../../kubelet/index.js';
import {parseNodeIps, type NodeIpValues} from '../manifests/node-ips.js';
import type {PodFlagValues} from '../manifests/pod-flags.js';
import {isExternalCloud} from './kubelet-flags.js';

/** Name and addresses of the node, as the flags of the kubelet decide them. */
export interface KubeletNodeFlags extends Required<NodeAddressFacts> {
  /** Values of --node-ip that are no IP addresses, which a kubelet ignores. */
  readonly invalidNodeIps: NodeIpValues['invalid'];
}

/** Reads the flags that decide the name and the addresses of the node. Throws UsageError. */
export function readKubeletNodeFlags(
  flags: Pick<PodFlagValues, 'hostname-override' | 'node-ip'> & {
    readonly 'cloud-provider'?: string | undefined;
  },
): KubeletNodeFlags {
  const {nodeIps, invalid} = parseNodeIps(flags['node-ip'] ?? []);
  return {
    nodeName: resolveNodeName(flags['hostname-override']),
    externalCloudProvider: isExternalCloud(flags['cloud-provider']),
    nodeIps,
    invalidNodeIps: invalid,
  };
}
