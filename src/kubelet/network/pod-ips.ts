import {isIPv4, isIPv6} from 'node:net';

/**
 * The pod's addresses as its environment and hosts file show them: one of each family, the node's own family first
 * (Kubelet.sortPodIPs).
 */
export function sortPodIps(podIps: readonly string[], nodeIps: readonly string[]): readonly string[] {
  const [primary] = nodeIps;
  const families = primary === undefined || isIPv4(primary) ? [isIPv4, isIPv6] : [isIPv6, isIPv4];
  return families.flatMap((isOfFamily) => podIps.filter((ip) => isOfFamily(ip)).slice(0, 1));
}
