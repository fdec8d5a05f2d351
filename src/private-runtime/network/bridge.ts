import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {networkInterfaces} from 'node:os';
import {SystemError} from '../../base/errors.js';
import {NETWORK_LOCK} from '../../base/fs/machine-locks.js';
import {withLock} from '../host/with-lock.js';
import type {PrivateRuntimeLayout} from '../private-runtime-layout.js';
import {
  chooseNetwork,
  gatewayOf,
  parseRoutedSubnets,
  type NetworkInUse,
  type PodNetwork,
} from './pod-network.js';
import {tryReadFile} from '../process/running-process.js';
import {runHostProgram} from '../process/run-host-program.js';

/** Shell script that creates the bridge $1 and stores its owner $2 as the alias of the device. */
const MAKE_BRIDGE = 'ip link add name "$1" type bridge && ip link set "$1" alias "$2"';

/** Returns the runtime's bridges. Their owner is stored as the device's alias, so none is lost or mixed up. */
export function listOwnBridges(layout: PrivateRuntimeLayout): string[] {
  return readdirSync('/sys/class/net').filter(
    (name) => tryReadFile(`/sys/class/net/${name}/ifalias`)?.trim() === aliasOf(layout),
  );
}

/**
 * Returns the names of the runtime's networks: those of its bridges, and the recorded one, whose bridge may have been
 * removed, unless another device has this name now.
 */
export function listOwnNetworks(layout: PrivateRuntimeLayout, recorded: string | undefined): string[] {
  const bridges = listOwnBridges(layout);
  const isGone = recorded !== undefined && !existsSync(`/sys/class/net/${recorded}`);
  return isGone ? [...bridges, recorded] : bridges;
}

/**
 * Creates the runtime's network with its bridge and address: the previous one if it is still free, otherwise another
 * one. Rejects with SystemError if no name or subnet is free.
 */
export async function ensureNetwork(
  layout: PrivateRuntimeLayout,
  previous: PodNetwork | undefined,
  signal: AbortSignal,
): Promise<PodNetwork> {
  const [own] = listOwnBridges(layout);
  if (own !== undefined && own === previous?.bridge) return previous;
  await removeBridges(layout, signal);
  // Two runtimes that start at the same time must not choose the same one.
  return withLock({lockFile: NETWORK_LOCK, signal}, () => makeNetwork(layout, previous, signal));
}

async function makeNetwork(
  layout: PrivateRuntimeLayout,
  previous: PodNetwork | undefined,
  signal: AbortSignal,
): Promise<PodNetwork> {
  signal.throwIfAborted();
  const network = chooseNetwork(networkInUse(), previous);
  if (network === undefined) {
    throw new SystemError('no free bridge name and subnet for pods', {
      hint: 'free a /24 in 10.88.0.0/16 to 10.90.0.0/16',
    });
  }
  const {bridge, subnet} = network;
  // One process creates and marks the bridge, so that a kill of kcri cannot leave an unmarked one.
  await runHostProgram('sh', ['-c', MAKE_BRIDGE, 'sh', bridge, aliasOf(layout)]);
  await runHostProgram('ip', ['address', 'add', gatewayOf(subnet), 'dev', bridge], {signal});
  await runHostProgram('ip', ['link', 'set', bridge, 'up'], {signal});
  return network;
}

/** Removes the bridges of the runtime. */
export async function removeBridges(layout: PrivateRuntimeLayout, signal?: AbortSignal): Promise<void> {
  for (const bridge of listOwnBridges(layout))
    await runHostProgram('ip', ['link', 'delete', bridge], {signal});
}

function aliasOf(layout: PrivateRuntimeLayout): string {
  return `kcri ${layout.socket}`;
}

function networkInUse(): NetworkInUse {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  return {
    interfaces: readdirSync('/sys/class/net'),
    subnets: [
      ...addresses.filter(({family}) => family === 'IPv4').flatMap(({cidr}) => cidr ?? []),
      ...parseRoutedSubnets(readFileSync('/proc/net/route', 'utf8')),
    ],
  };
}
