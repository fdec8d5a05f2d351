import {isIPv6} from 'node:net';
import {UsageError} from '../../base/errors.js';
import {isUnspecifiedIp, parseIp} from '../../base/net/ip-address.js';

/** Parsed values of the flag --node-ip. */
export interface NodeIpValues {
  readonly nodeIps: readonly string[];
  /** Values that are no IP addresses. */
  readonly invalid: readonly string[];
}

/**
 * Parses the values of --node-ip: one IP address, or one of each family; an empty value is none (ParseNodeIPArgument).
 * Throws UsageError for other combinations.
 */
export function parseNodeIps(values: readonly string[]): NodeIpValues {
  const text = values.join(',');
  const parsed = text === '' ? [] : text.split(',').map((value) => [value.trim(), parseIp(value.trim())]);
  const nodeIps = parsed.flatMap(([, ip]) => ip ?? []);
  const problem = findProblem(nodeIps);
  if (problem !== undefined)
    throw new UsageError(`bad --node-ip "${text}": ${problem}`, {
      hint: 'set one IP address of the node, or an IPv4 and an IPv6 address',
    });
  return {nodeIps, invalid: parsed.flatMap(([value = '', ip]) => (ip === undefined ? [value] : []))};
}

function findProblem(ips: readonly string[]): string | undefined {
  const [first = '', second] = ips;
  if (second === undefined) return undefined;
  if (ips.length > 2 || isIPv6(first) === isIPv6(second))
    return 'must contain either a single IP or a dual-stack pair of IPs';
  return ips.some(isUnspecifiedIp) ? "dual-stack node IP cannot include '0.0.0.0' or '::'" : undefined;
}
