import {isIPv6} from 'node:net';
import {pause} from '../../base/async/pause.js';
import type {Clock} from '../../base/clock.js';
import {messageOf} from '../../base/errors.js';
import type {Logger} from '../../base/logger.js';
import {isUnspecifiedIp, parseIp} from '../../base/net/ip-address.js';
import type {HostIps, NodeFacts} from '../contract/node-facts.js';
import {chooseHostIp, findNodeIpProblem, readHostNetwork, type HostNetwork} from './host-network.js';
import {lookupInHostsFile, type LookupHost} from './lookup-host.js';

/** Facts that decide which addresses the node has. */
export interface NodeAddressFacts extends Pick<NodeFacts, 'nodeName' | 'nodeIps'> {
  /** True if a cloud controller manager sets the addresses (--cloud-provider=external). */
  readonly externalCloudProvider?: boolean;
}

/** Options of {@link NodeAddresses}. */
export interface NodeAddressesOptions extends NodeAddressFacts {
  readonly readNetwork?: () => Promise<HostNetwork>;
  readonly lookup: LookupHost;
  readonly logger: Logger;
}

/**
 * Finds the IP addresses that a kubelet without an API object reports for its node (nodestatus.NodeAddress): those of --node-ip,
 * the name of the node if it is one, an address of the machine that the name has, or that of the default route. There is
 * none if only a cloud controller manager knows them. Throws Error if there is none otherwise.
 */
export async function findHostIps(
  {nodeName, nodeIps, externalCloudProvider = false}: NodeAddressFacts,
  network: HostNetwork,
  lookup: LookupHost,
): Promise<readonly string[]> {
  const specified = validNodeIps(nodeIps, network);
  if (specified.length > 0) return specified;
  if (externalCloudProvider && nodeIps.length === 0) return [];
  const named = parseIp(nodeName);
  if (named !== undefined) return [named];
  const prefersIpv6 = isIPv6(nodeIps[0] ?? '');
  const found = (await lookup(nodeName)).filter((ip) => findNodeIpProblem(ip, network) === undefined);
  const best = found.find((ip) => isIPv6(ip) === prefersIpv6) ?? found[0];
  try {
    return [best ?? chooseHostIp(network, prefersIpv6 ? 'IPv6' : 'IPv4')];
  } catch (error) {
    throw new Error(`can't get ip address of node ${nodeName}. error: ${messageOf(error)}`, {cause: error});
  }
}

/** Returns the values of --node-ip that are no placeholders of a family. Throws Error if they cannot be those of the node. */
function validNodeIps(nodeIps: readonly string[], network: HostNetwork): readonly string[] {
  const specified = nodeIps.filter((ip) => !isUnspecifiedIp(ip));
  for (const [index, ip] of specified.entries()) {
    const problem = findNodeIpProblem(ip, network);
    if (problem !== undefined)
      throw new Error(`failed to validate ${index === 0 ? 'nodeIP' : 'secondaryNodeIP'}: ${problem}`);
  }
  return specified;
}

/** Address of a machine without a network. */
const LOOPBACK = '127.0.0.1';

/**
 * Reads the IP addresses of the node for a command, which does not wait for the DNS. Those of --node-ip may be any, as in a
 * plan for another node. Pods that need a host IP also run on a machine without a network.
 */
export async function readHostIps(
  facts: NodeAddressFacts,
  readNetwork = readHostNetwork,
): Promise<readonly string[]> {
  const specified = facts.nodeIps.filter((ip) => !isUnspecifiedIp(ip));
  if (specified.length > 0) return specified;
  const network = await readNetwork();
  return await findHostIps(facts, network, lookupInHostsFile).catch(() => [LOOPBACK]);
}

/** The IP addresses of the node of a kubelet, which may change while it runs. */
export class NodeAddresses implements HostIps {
  readonly #options: NodeAddressesOptions;
  #current: readonly string[] = [];
  /** Message of the last failure; undefined after a success. */
  #failure: string | undefined;

  constructor(options: NodeAddressesOptions) {
    this.#options = options;
  }

  get current(): readonly string[] {
    return this.#current;
  }

  async refresh(): Promise<void> {
    const {readNetwork = readHostNetwork, lookup} = this.#options;
    this.#current = await findHostIps(this.#options, await readNetwork(), lookup);
    this.#failure = undefined;
  }

  /** Refreshes the addresses; logs a failure unless the last one was the same. */
  async tryRefresh(): Promise<void> {
    try {
      await this.refresh();
    } catch (error) {
      const {nodeName, logger} = this.#options;
      if (messageOf(error) === this.#failure) return;
      this.#failure = messageOf(error);
      logger
        .forFile('node-addresses.ts')
        .error(error, 'Failed to set some node status fields', {node: nodeName});
    }
  }

  /** Refreshes the addresses periodically until the signal aborts. */
  async run(
    {clock, periodMs}: {readonly clock: Clock; readonly periodMs: number},
    signal: AbortSignal,
  ): Promise<void> {
    while (!signal.aborted) {
      await this.tryRefresh();
      await pause(clock, periodMs, signal).catch(() => undefined); // aborted
    }
  }
}
