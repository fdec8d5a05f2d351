import {isIPv6} from 'node:net';

/**
 * Returns one IP address of each family, starting with the family of the first value of --node-ip, or IPv4 without one
 * (Kubelet.sortPodIPs).
 */
export function sortPodIps(podIps: readonly string[], nodeIps: readonly string[]): readonly string[] {
  // The placeholder of a plan counts as IPv4.
  const v6 = podIps.filter((ip) => isIPv6(ip)).slice(0, 1);
  const v4 = podIps.filter((ip) => !isIPv6(ip)).slice(0, 1);
  return isIPv6(nodeIps[0] ?? '') ? [...v6, ...v4] : [...v4, ...v6];
}
