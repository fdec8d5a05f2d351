import {readFile} from 'node:fs/promises';
import {networkInterfaces} from 'node:os';
import {isIPv6} from 'node:net';
import {hasErrno} from '../../base/errors.js';
import {ipKind} from '../../base/net/ip-address.js';

/** Network interface that is up. */
export interface HostInterface {
  readonly name: string;
  readonly isLoopback: boolean;
  /** IP addresses in the kernel's order. */
  readonly ips: readonly string[];
}

/** Addresses and default routes of the machine. */
export interface HostNetwork {
  readonly interfaces: readonly HostInterface[];
  /** Interfaces of the default routes by family, the first route first; undefined if the kernel lists no routes. */
  readonly defaultRoutes: Readonly<Record<IpFamily, readonly string[]>> | undefined;
}

type IpFamily = 'IPv4' | 'IPv6';

const IPV4_ROUTES = '/proc/net/route';
const IPV6_ROUTES = '/proc/net/ipv6_route';

/** Reads the addresses and default routes of the machine. */
export async function readHostNetwork(): Promise<HostNetwork> {
  const [ipv4, ipv6] = await Promise.all([IPV4_ROUTES, IPV6_ROUTES].map(readRoutes));
  const interfaces = Object.entries(networkInterfaces()).map(([name, addresses = []]) => ({
    name,
    isLoopback: addresses.some(({internal}) => internal),
    ips: addresses.map(({address}) => address),
  }));
  return {
    interfaces,
    defaultRoutes: ipv4 === undefined ? undefined : parseDefaultRoutes(ipv4, ipv6 ?? ''),
  };
}

async function readRoutes(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Returns the interfaces of the default routes in the kernel's lists of routes (getAllDefaultRoutes). */
export function parseDefaultRoutes(
  ipv4: string,
  ipv6: string,
): Readonly<Record<IpFamily, readonly string[]>> {
  const rows = (text: string): readonly (readonly string[])[] =>
    text.split('\n').map((line) => line.trim().split(/\s+/));
  const isZero = (hex: string | undefined): boolean => hex !== undefined && /^0+$/.test(hex);
  return {
    IPv4: rows(ipv4).flatMap(([name = '', destination]) => (isZero(destination) ? [name] : [])),
    // A default route without a gateway is that of the loopback interface.
    IPv6: rows(ipv6).flatMap(({0: destination, 4: gateway, 9: name = ''}) =>
      isZero(destination) && !isZero(gateway) && name !== '' ? [name] : [],
    ),
  };
}

/**
 * Returns the IP address of the default route, of the preferred family if there is one (ResolveBindAddress). Throws Error if
 * there is none.
 */
export function chooseHostIp({interfaces, defaultRoutes}: HostNetwork, preferred: IpFamily): string {
  const families: readonly IpFamily[] = preferred === 'IPv6' ? ['IPv6', 'IPv4'] : ['IPv4', 'IPv6'];
  if (defaultRoutes === undefined) {
    const external = interfaces.filter(({isLoopback}) => !isLoopback);
    const [found] = families.flatMap((family) => globalIps(external, family));
    if (found !== undefined) return found;
    throw new Error('no acceptable interface with global unicast address found on host');
  }
  if (families.every((family) => defaultRoutes[family].length === 0))
    throw new Error(`no default routes found in "${IPV4_ROUTES}" or "${IPV6_ROUTES}"`);
  // The interface of a route may have link-local addresses only, and the loopback interface that of the machine (RFC 5549).
  const loopback = interfaces.filter(({isLoopback}) => isLoopback);
  const [found] = families.flatMap((family) =>
    defaultRoutes[family].flatMap((name) => {
      const own = interfaces.filter((each) => each.name === name);
      return [...globalIps(own, family), ...globalIps(loopback, family)].slice(0, 1);
    }),
  );
  if (found === undefined) throw new Error('unable to select an IP from default routes.');
  return found;
}

function globalIps(interfaces: readonly HostInterface[], family: IpFamily): readonly string[] {
  return interfaces
    .flatMap(({ips}) => ips)
    .filter((ip) => isIPv6(ip) === (family === 'IPv6') && ipKind(ip) === 'global unicast');
}

const REFUSED: Partial<Readonly<Record<ReturnType<typeof ipKind>, string>>> = {
  loopback: 'loopback address',
  multicast: 'a multicast address',
  'link-local unicast': 'a link-local unicast address',
  unspecified: 'an all zeros address',
};

/** Returns why an IP address cannot be that of the node; undefined if it can (validateNodeIP). */
export function findNodeIpProblem(
  ip: string,
  {interfaces}: Pick<HostNetwork, 'interfaces'>,
): string | undefined {
  const refused = REFUSED[ipKind(ip)];
  if (refused !== undefined) return `nodeIP can't be ${refused}`;
  return interfaces.some(({ips}) => ips.includes(ip))
    ? undefined
    : `node IP: "${ip}" not found in the host's network interfaces`;
}
