import {isIPv6} from 'node:net';

/**
 * The pod's addresses as its environment and hosts file show them: one of each family, the node's own family first
 * (Kubelet.sortPodIPs).
 */
export function sortPodIps(podIps: readonly string[], nodeIps: readonly string[]): readonly string[] {
  // A plan has a placeholder for an address; it passes for IPv4.
  const v6 = podIps.filter((ip) => isIPv6(ip)).slice(0, 1);
  const v4 = podIps.filter((ip) => !isIPv6(ip)).slice(0, 1);
  return isIPv6(nodeIps[0] ?? '') ? [...v6, ...v4] : [...v4, ...v6];
}
