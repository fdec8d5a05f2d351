/** The pods' network of one private runtime. */
export interface PodNetwork {
  /** The bridge's name, and the CNI network's: `kcri0`. */
  readonly bridge: string;
  /** `10.88.0.0/24`. */
  readonly subnet: string;
}

/** What of the machine's network is in use. */
export interface NetworkInUse {
  readonly interfaces: readonly string[];
  /** In CIDR form; the default route isn't one of them. */
  readonly subnets: readonly string[];
}

const BRIDGES = Array.from({length: 256}, (_, index) => `kcri${index}`);
const SUBNETS = [88, 89, 90].flatMap((second) =>
  Array.from({length: 256}, (_, third) => `10.${second}.${third}.0/24`),
);

/** `preferred`, or else the first bridge name and /24, that nothing uses; undefined when all are taken. */
export function chooseNetwork(inUse: NetworkInUse, preferred?: PodNetwork): PodNetwork | undefined {
  const isFreeBridge = (name: string): boolean => !inUse.interfaces.includes(name);
  const isFreeSubnet = (subnet: string): boolean => !inUse.subnets.some((taken) => overlaps(subnet, taken));
  if (preferred !== undefined && isFreeBridge(preferred.bridge) && isFreeSubnet(preferred.subnet))
    return preferred;
  const bridge = BRIDGES.find(isFreeBridge);
  const subnet = SUBNETS.find(isFreeSubnet);
  return bridge === undefined || subnet === undefined ? undefined : {bridge, subnet};
}

/** The bridge's own address in the subnet, its first one: `10.88.0.1/24`. */
export function gatewayOf(subnet: string): string {
  return subnet.replace(/\.0\//, '.1/');
}

/** The CNI configuration: bridge, addresses kept below `ipamDir`, and host ports where iptables works. */
export function conflist(network: PodNetwork, options: {ipamDir: string; iptables: boolean}): string {
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

/** The destinations in /proc/net/route, without the default route. */
export function routedSubnets(routeTable: string): string[] {
  return routeTable
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(/\s+/))
    .map(([, destination = '', , , , , , mask = '']) => `${hexAddress(destination)}/${prefixLength(mask)}`)
    .filter((subnet) => !subnet.endsWith('/0'));
}

/** The kernel prints an address as the number its bytes make on a little-endian machine. */
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
