import {isIPv6, SocketAddress} from 'node:net';

/** Kind of an IP address, as in Go's net.IP. */
export type IpKind =
  | 'unspecified'
  | 'loopback'
  | 'multicast'
  | 'link-local unicast'
  | 'broadcast'
  | 'global unicast';

/**
 * Returns the canonical text of an IP address, or undefined if the text is none. Numbers of IPv4 addresses may have
 * leading zeros, and an IPv4-mapped IPv6 address is an IPv4 address (netutils.ParseIPSloppy).
 */
export function parseIp(text: string): string | undefined {
  if (!isIPv6(text)) return parseIpv4(text);
  if (text.includes('%')) return undefined;
  const {address} = new SocketAddress({address: text, family: 'ipv6'});
  return parseIpv4(address.replace(/^::ffff:/, '')) ?? address;
}

function parseIpv4(text: string): string | undefined {
  if (!/^\d+(?:\.\d+){3}$/.test(text)) return undefined;
  const numbers = text.split('.').map(Number);
  return numbers.every((number) => number <= 255) ? numbers.join('.') : undefined;
}

const KINDS: readonly (readonly [IpKind, RegExp])[] = [
  ['unspecified', /^(?:0\.0\.0\.0|::)$/],
  ['loopback', /^(?:127\.|::1$)/],
  ['multicast', /^(?:22[4-9]\.|23\d\.|ff)/],
  ['link-local unicast', /^(?:169\.254\.|fe[89ab].:)/],
  ['broadcast', /^255\.255\.255\.255$/],
];

/** Returns the kind of an IP address in canonical text. */
export function ipKind(ip: string): IpKind {
  return KINDS.find(([, pattern]) => pattern.test(ip))?.[0] ?? 'global unicast';
}

/** Reports whether an IP address is 0.0.0.0 or ::. */
export function isUnspecifiedIp(ip: string): boolean {
  return ipKind(ip) === 'unspecified';
}
