import {Resolver} from 'node:dns/promises';
import {join} from 'node:path';
import {onAbort} from '../../../base/async/abort-callbacks.js';
import type {Clock} from '../../../base/clock.js';
import {isObject} from '../../../base/is-object.js';
import {parseJsonObject} from '../../../base/parse-json-object.js';
import {mapFact, valueOf} from '../fact.js';
import type {AddressUse, CniFacts, InterfaceFacts, NameServerFacts, NetworkFacts} from '../node-snapshot.js';
import type {FileReader} from './file-reader.js';

const INTERFACES = '/sys/class/net';
/** Names that network plugins give to the ends of virtual cables on the node. */
const CABLE = /^(veth|cali|lxc|azv|eni|vethwe)/;
const MAX_INTERFACES = 10_000;
/** Directory in which host-local keeps a file for each address. */
const DATA_DIR = '/var/lib/cni/networks';
/** Number of addresses whose owners are read. */
const MAX_OWNERS = 1000;
const DNS_TIMEOUT_MS = 1000;
const MAX_NAME_SERVERS = 3;

/** Reads the ends of virtual cables to pods. */
export async function readInterfaces(node: FileReader): Promise<NetworkFacts['interfaces']> {
  const names = await node.names(INTERFACES);
  if ('error' in names) return names;
  const cables = names.value.filter((name) => CABLE.test(name)).slice(0, MAX_INTERFACES);
  const read = async (name: string): Promise<InterfaceFacts> => ({
    name,
    state: (valueOf(await node.text(join(INTERFACES, name, 'operstate'))) ?? 'unknown').trim(),
  });
  return {value: await Promise.all(cables.map(read))};
}

/** Reads which addresses host-local has given out in the networks of the configurations. */
export async function readAddresses({configs}: CniFacts, node: FileReader): Promise<readonly AddressUse[]> {
  const ranges = (valueOf(configs) ?? []).flatMap(({text}) => addressRanges(valueOf(text) ?? ''));
  return await Promise.all(
    ranges.map(async ({network, size, dataDir}) => {
      const directory = join(dataDir, network);
      const names = await node.names(directory);
      if ('error' in names)
        return {
          network,
          directory,
          size,
          taken: names.isMissing === true ? {value: {count: 0, owners: []}} : names,
        };
      const addresses = names.value.filter((name) => /^[\d.]+$|:/.test(name));
      const owners = await Promise.all(
        addresses.slice(0, MAX_OWNERS).map(async (name) => {
          const text = await node.text(join(directory, name), 256);
          return (valueOf(text) ?? '').split(/\s/)[0] ?? '';
        }),
      );
      return {network, directory, size, taken: {value: {count: addresses.length, owners}}};
    }),
  );
}

/** Address range of a network. */
export interface AddressRange {
  readonly network: string;
  readonly size: number;
  readonly dataDir: string;
}

/** Returns the address ranges of host-local in a network configuration. Pure. */
export function addressRanges(text: string): readonly AddressRange[] {
  const config = parseJsonObject(text);
  const plugins: readonly unknown[] = Array.isArray(config['plugins']) ? config['plugins'] : [config];
  return plugins.filter(isObject).flatMap((plugin) => {
    const {ipam} = plugin;
    if (!isObject(ipam) || ipam['type'] !== 'host-local') return [];
    const sets: readonly unknown[] = Array.isArray(ipam['ranges']) ? ipam['ranges'].flat() : [ipam];
    const sizes = sets.filter(isObject).map(rangeSize);
    // Each address family has its own range; a pod gets an address of each, so that the smallest one counts.
    const size = Math.min(...sizes.filter((each) => each > 0));
    if (!Number.isFinite(size)) return [];
    const {dataDir} = ipam;
    return [
      {
        network: typeof config['name'] === 'string' ? config['name'] : '',
        size,
        dataDir: typeof dataDir === 'string' ? dataDir : DATA_DIR,
      },
    ];
  });
}

/** Number of addresses of a subnet that are not given out: network, gateway and broadcast. */
const RESERVED = 3;

function rangeSize({subnet, rangeStart, rangeEnd}: Readonly<Record<string, unknown>>): number {
  const [address = '', bits = ''] = typeof subnet === 'string' ? subnet.split('/') : [];
  if (bits === '') return 0;
  const width = address.includes(':') ? 128 : 32;
  const size = 2 ** (width - Number(bits)) - RESERVED;
  const [start, end] = [rangeStart, rangeEnd].map((each) =>
    typeof each === 'string' ? ipv4Number(each) : undefined,
  );
  if (start === undefined || end === undefined) return size;
  return Math.min(size, end - start + 1);
}

function ipv4Number(address: string): number | undefined {
  if (!/^\d+(\.\d+){3}$/.test(address)) return undefined;
  return address.split('.').reduce((number, part) => number * 256 + Number(part), 0);
}

/** Errors of name servers that answer. */
const ANSWERS = new Set(['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'EREFUSED', 'ENOTIMP', 'EFORMERR', 'EBADRESP']);

/** Asks each name server of the node for the root, for which it needs no other server. */
export async function askNameServers(
  node: FileReader,
  {clock, signal}: {readonly clock: Clock; readonly signal: AbortSignal},
): Promise<readonly NameServerFacts[]> {
  const resolvConf = valueOf(await node.text('/etc/resolv.conf')) ?? '';
  const servers = [...resolvConf.matchAll(/^nameserver\s+(\S+)/gm)].map(([, server = '']) => server);
  return await Promise.all(
    servers.slice(0, MAX_NAME_SERVERS).map(async (server) => {
      const start = clock.monotonic();
      const asked = {overTcp: false};
      const answered = await node.onNode(
        async () => {
          await ask(server, signal);
        },
        server,
        async (probe) => {
          asked.overTcp = true;
          const {askNameServerOverTcp} = await import('./remote-probes.js');
          await askNameServerOverTcp(server, probe);
        },
      );
      const ms = mapFact(answered, () => Math.round(clock.monotonic() - start));
      return {server, ms, ...(asked.overTcp && {overTcp: true})};
    }),
  );
}

async function ask(server: string, signal: AbortSignal): Promise<void> {
  const resolver = new Resolver({timeout: DNS_TIMEOUT_MS, tries: 1});
  resolver.setServers([server.includes(':') ? `[${server.replace(/%.*$/, '')}]` : server]);
  // A pending question would keep the process.
  const forget = onAbort(signal, () => {
    resolver.cancel();
  });
  try {
    await resolver.resolveNs('.');
  } catch (error) {
    const {code} = error as {readonly code?: string};
    if (code === undefined || !ANSWERS.has(code)) throw error;
  } finally {
    forget();
  }
}
