import {describe, expect, test} from 'vitest';
import {SILENT_LOGGER} from '../../../src/base/logger.js';
import type {HostNetwork} from '../../../src/kubelet/node/host-network.js';
import {
  findHostIps,
  NodeAddresses,
  readHostIps,
  type NodeAddressFacts,
} from '../../../src/kubelet/node/node-addresses.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import {until} from '../../base/until.js';

const aNetwork = (ip = '192.0.2.2'): HostNetwork => ({
  interfaces: [
    {name: 'eth0', isLoopback: false, ips: [ip, 'fd00::2']},
    {name: 'eth1', isLoopback: false, ips: ['198.51.100.1', 'fd00::5']},
  ],
  defaultRoutes: {IPv4: ['eth0'], IPv6: ['eth0']},
});

const find = async (
  facts: Partial<NodeAddressFacts>,
  names: Readonly<Record<string, readonly string[]>> = {},
): Promise<readonly string[]> =>
  await findHostIps({nodeName: 'node-1', nodeIps: [], ...facts}, aNetwork(), async (name) =>
    Promise.resolve(names[name] ?? []),
  );

describe('the IP addresses of the node', () => {
  test.each<
    [string, Partial<NodeAddressFacts>, Readonly<Record<string, readonly string[]>>, readonly string[]]
  >([
    ['is that of the default route', {}, {}, ['192.0.2.2']],
    ['is the node name if that is one', {nodeName: '203.0.113.7'}, {}, ['203.0.113.7']],
    ['is that of the name', {}, {'node-1': ['fd00::5', '198.51.100.1']}, ['198.51.100.1']],
    ['is of the only family of the name', {}, {'node-1': ['fd00::5']}, ['fd00::5']],
    [
      'is no address of the name on another machine',
      {},
      {'node-1': ['127.0.1.1', '203.0.113.7']},
      ['192.0.2.2'],
    ],
    ['is of the preferred family', {nodeIps: ['::']}, {'node-1': ['198.51.100.1', 'fd00::5']}, ['fd00::5']],
    ['is the IPv6 one of the default route for ::', {nodeIps: ['::']}, {}, ['fd00::2']],
    ['is the IPv4 one of the default route for 0.0.0.0', {nodeIps: ['0.0.0.0']}, {}, ['192.0.2.2']],
    ['is --node-ip', {nodeIps: ['198.51.100.1']}, {'node-1': ['192.0.2.2']}, ['198.51.100.1']],
    ['are both of --node-ip', {nodeIps: ['fd00::5', '192.0.2.2']}, {}, ['fd00::5', '192.0.2.2']],
    ['are left to the cloud', {externalCloudProvider: true}, {}, []],
    ['are preliminary in a cloud', {externalCloudProvider: true, nodeIps: ['0.0.0.0']}, {}, ['192.0.2.2']],
  ])('%s', async (_, facts, names, expected) => {
    expect(await find(facts, names)).toEqual(expected);
  });

  test.each<[readonly string[], string]>([
    [['203.0.113.1'], 'nodeIP: node IP: "203.0.113.1" not found in the host\'s network interfaces'],
    [['192.0.2.2', '::1'], "secondaryNodeIP: nodeIP can't be loopback address"],
  ])('are unknown for --node-ip %j', async (nodeIps, problem) => {
    await expect(find({nodeIps})).rejects.toThrow(`failed to validate ${problem}`);
  });

  test('is that of the loopback interface for a command on a machine without a network', async () => {
    const offline = {interfaces: [], defaultRoutes: {IPv4: [], IPv6: []}};
    const facts = {nodeName: 'unknown.invalid', nodeIps: []};
    expect(await readHostIps(facts, async () => Promise.resolve(offline))).toEqual(['127.0.0.1']);
  });

  test('are unknown without a default route', async () => {
    const network = {...aNetwork(), defaultRoutes: {IPv4: [], IPv6: []}};
    const found = findHostIps({nodeName: 'node-1', nodeIps: []}, network, async () => Promise.resolve([]));
    await expect(found).rejects.toThrow(
      "can't get ip address of node node-1. error: no default routes found",
    );
  });
});

test('the addresses follow those of the machine, and remain when it has none', async () => {
  const clock = new FakeClock();
  let network = aNetwork('192.0.2.2');
  const errors: string[] = [];
  const log = {
    ...SILENT_LOGGER.forFile(''),
    error: (error: unknown) => {
      errors.push((error as Error).message);
    },
  };
  const addresses = new NodeAddresses({
    ...{nodeName: 'node-1', nodeIps: []},
    readNetwork: async () => Promise.resolve(network),
    lookup: async () => Promise.resolve([]),
    logger: {forFile: () => log},
  });
  expect(addresses.current).toEqual([]);
  await addresses.tryRefresh();
  expect(addresses.current).toEqual(['192.0.2.2']);
  const end = new AbortController();
  const ended = addresses.run({clock, periodMs: 10_000}, end.signal);
  const nextPeriod = async (): Promise<void> => {
    await until(() => clock.sleeping === 1);
    await clock.advance(10_000);
    await until(() => clock.sleeping === 1);
  };
  network = aNetwork('192.0.2.3');
  await nextPeriod();
  expect(addresses.current).toEqual(['192.0.2.3']);
  network = {interfaces: [], defaultRoutes: {IPv4: [], IPv6: []}};
  await nextPeriod();
  await nextPeriod();
  expect(addresses.current).toEqual(['192.0.2.3']);
  expect(errors).toEqual([expect.stringContaining('no default routes found')]);
  end.abort();
  await ended;
});
