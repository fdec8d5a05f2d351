import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {networkInterfaces} from 'node:os';
import {SystemError} from '../base/errors.js';
import {NETWORK_LOCK} from '../base/machine-locks.js';
import {exclusively} from './exclusively.js';
import type {Layout} from './layout.js';
import {chooseNetwork, gatewayOf, routedSubnets, type NetworkInUse, type PodNetwork} from './network.js';
import {readIfThere} from './process-identity.js';
import {runProgram} from './run-program.js';

/** Takes a name and an owner. */
const MAKE_BRIDGE = 'ip link add name "$1" type bridge && ip link set "$1" alias "$2"';

/** The runtime's bridges: the kernel keeps their owner as the device's alias, so none is lost or mixed up. */
export function ownBridges(layout: Layout): string[] {
  return readdirSync('/sys/class/net').filter(
    (name) => readIfThere(`/sys/class/net/${name}/ifalias`)?.trim() === aliasOf(layout),
  );
}

/**
 * The names of the runtime's networks: those of its bridges, and the one that was written down, whose bridge may
 * have been removed by others, unless somebody else has a device of that name now.
 */
export function ownNetworks(layout: Layout, recorded: string | undefined): string[] {
  const bridges = ownBridges(layout);
  const isGone = recorded !== undefined && !existsSync(`/sys/class/net/${recorded}`);
  return isGone ? [...bridges, recorded] : bridges;
}

/**
 * The runtime's network, with its bridge and the bridge's address: `kept` again when nothing else took it in
 * the meantime, else a free one. Throws SystemError when there is none.
 */
export async function ensureNetwork(
  layout: Layout,
  kept: PodNetwork | undefined,
  signal: AbortSignal,
): Promise<PodNetwork> {
  const [own] = ownBridges(layout);
  if (own !== undefined && own === kept?.bridge) return kept;
  await removeBridges(layout, signal);
  // Two runtimes that come up at once must not choose the same one.
  return exclusively({lockFile: NETWORK_LOCK, signal}, () => makeNetwork(layout, kept, signal));
}

async function makeNetwork(
  layout: Layout,
  kept: PodNetwork | undefined,
  signal: AbortSignal,
): Promise<PodNetwork> {
  signal.throwIfAborted();
  const network = chooseNetwork(networkInUse(), kept);
  if (network === undefined) {
    throw new SystemError('no free bridge name and subnet for pods', {
      hint: 'kcri looks in 10.88.0.0/16 to 10.90.0.0/16: free a /24 there',
    });
  }
  const {bridge, subnet} = network;
  // In one process that outlives a kill of this one: in between nobody would know whose the bridge is.
  await runProgram('sh', ['-c', MAKE_BRIDGE, 'sh', bridge, aliasOf(layout)]);
  await runProgram('ip', ['address', 'add', gatewayOf(subnet), 'dev', bridge], {signal});
  await runProgram('ip', ['link', 'set', bridge, 'up'], {signal});
  return network;
}

/** Removes the runtime's bridges. */
export async function removeBridges(layout: Layout, signal?: AbortSignal): Promise<void> {
  for (const bridge of ownBridges(layout)) await runProgram('ip', ['link', 'delete', bridge], {signal});
}

function aliasOf(layout: Layout): string {
  return `kcri ${layout.socket}`;
}

function networkInUse(): NetworkInUse {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  return {
    interfaces: readdirSync('/sys/class/net'),
    subnets: [
      ...addresses.filter(({family}) => family === 'IPv4').flatMap(({cidr}) => cidr ?? []),
      ...routedSubnets(readFileSync('/proc/net/route', 'utf8')),
    ],
  };
}
