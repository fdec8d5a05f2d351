/** The pod network of a private runtime. */
export interface PodNetwork {
  /** Name of the bridge and of the CNI network: `kcri0`. */
  readonly bridge: string;
  /** Subnet in CIDR notation, such as `10.88.0.0/24`. */
  readonly subnet: string;
}

/** Names and subnets that are in use on the machine. */
export interface NetworkInUse {
  readonly interfaces: readonly string[];
  /** Destinations in CIDR notation, without the default route. */
  readonly subnets: readonly string[];
}

const BRIDGES = Array.from({length: 256}, (_, index) => `kcri${index}`);
const SUBNETS = [88, 89, 90].flatMap((second) =>
  Array.from({length: 256}, (_, third) => `10.${second}.${third}.0/24`),
);

/** Returns `preferred` if it is free, otherwise the first free bridge name and /24; undefined if all are in use. */
export function chooseNetwork(inUse: NetworkInUse, preferred?: PodNetwork): PodNetwork | undefined {
  const isFreeBridge = (name: string): boolean => !inUse.interfaces.includes(name);
  const isFreeSubnet = (subnet: string): boolean => !inUse.subnets.some((taken) => overlaps(subnet, taken));
  if (preferred !== undefined && isFreeBridge(preferred.bridge) && isFreeSubnet(preferred.subnet))
    return preferred;
  const bridge = BRIDGES.find(isFreeBridge);
  const subnet = SUBNETS.find(isFreeSubnet);
  return bridge === undefined || subnet === undefined ? undefined : {bridge, subnet};
}

/** Returns the bridge's address, the first of the subnet: `10.88.0.1/24`. */
export function gatewayOf(subnet: string): string {
  return subnet.replace(/\.0\//, '.1/');
}

/** Returns the CNI configuration: bridge, address management below `ipamDir`, and host ports if iptables works. */
export function renderConflist(network: PodNetwork, options: {ipamDir: string; iptables: boolean}): string {
  const bridge = {
    type: 'bridge',
    bridge: network.bridge,
    isGateway: true,
    ipMasq: options.iptables,
    hairpinMode: true,
    ipam: {
      type: 'host-local',
      dataDir: options.ipamDir,
      ranges: [[{subnet: network.subnet}]],
      routes: [{dst: '0.0.0.0/0'}],
    },
  };
  const portmap = {type: 'portmap', capabilities: {portMappings: true}};
  return `${JSON.stringify(
    {
      cniVersion: '0.4.0',
      name: network.bridge,
      plugins: options.iptables ? [bridge, portmap] : [bridge],
    },
    undefined,
    2,
  )}\n`;
}

/** Returns the destinations in /proc/net/route, without the default route. */
export function parseRoutedSubnets(routeTable: string): string[] {
  return routeTable
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(/\s+/))
    .map(([, destination = '', , , , , , mask = '']) => `${hexAddress(destination)}/${prefixLength(mask)}`)
    .filter((subnet) => !subnet.endsWith('/0'));
}

/** Parses an address of /proc/net/route, a number in the machine's little-endian order. */
function hexAddress(hex: string): string {
  return Buffer.from(hex, 'hex').reverse().join('.');
}

function prefixLength(hexMask: string): number {
  return Number.parseInt(hexMask, 16).toString(2).replaceAll('0', '').length;
}

function overlaps(one: string, other: string): boolean {
  const [a, b] = [parseCidr(one), parseCidr(other)];
  const shift = 32 - Math.min(a.length, b.length);
  return a.address >> BigInt(shift) === b.address >> BigInt(shift);
}

function parseCidr(cidr: string): {address: bigint; length: number} {
  const [address = '', length = '32'] = cidr.split('/');
  const number = address.split('.').reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  return {address: number, length: Number(length)};
}
