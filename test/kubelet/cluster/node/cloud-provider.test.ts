import {describe, expect, test} from 'vitest';
import type {Node, NodeAddress} from '../../../../src/api/types/v1-node.js';
import {nodeObjectFacts} from '../../../../src/kubelet/contract/cluster/cluster-link.js';
import {
  computeNodeAddresses,
  providedNodeIp,
  updateProvidedNodeIp,
} from '../../../../src/kubelet/cluster/node/cloud-provider.js';
import {ClusterTestbed, NODE_PATH} from '../cluster-testbed.js';

const CLOUD = {externalCloudProvider: true};
const NO_CLOUD = {externalCloudProvider: false};
const PROVIDED = 'alpha.kubernetes.io/provided-node-ip';

const internal = (address: string): NodeAddress => ({type: 'InternalIP', address});
const external = (address: string): NodeAddress => ({type: 'ExternalIP', address});
const HOSTNAME: NodeAddress = {type: 'Hostname', address: 'n1'};

const aNode = (nodeIps: readonly string[], current: readonly string[]) => ({
  ...{nodeName: 'n1', nodeIps},
  hostIps: {current},
});

describe('the addresses of the node', () => {
  test.each<[string, Parameters<typeof computeNodeAddresses>, readonly NodeAddress[] | undefined]>([
    [
      'are its IP addresses and its name',
      [aNode(['192.0.2.2', 'fd00::2'], ['192.0.2.2', 'fd00::2']), NO_CLOUD, [internal('192.0.2.9')]],
      [internal('192.0.2.2'), internal('fd00::2'), HOSTNAME],
    ],
    ['remain if none was found', [aNode([], []), NO_CLOUD, []], undefined],
    ['are only the name until a cloud sets them', [aNode([], []), CLOUD, []], [HOSTNAME]],
    [
      'are those of --node-ip until a cloud sets them',
      [aNode(['192.0.2.2'], ['192.0.2.2']), CLOUD, []],
      [internal('192.0.2.2'), HOSTNAME],
    ],
    ['remain once a cloud may have set them', [aNode(['::'], ['fd00::2']), CLOUD, [HOSTNAME]], undefined],
    ['remain if --node-ip is invalid', [aNode(['192.0.2.2'], []), CLOUD, []], undefined],
  ])('%s', (_, input, expected) => {
    expect(computeNodeAddresses(...input)).toEqual(expected);
  });
});

describe('the annotation for a cloud controller manager', () => {
  test.each<[readonly string[], readonly string[], typeof CLOUD, string | undefined]>([
    [['192.0.2.2'], ['192.0.2.2'], CLOUD, '192.0.2.2'],
    [['fd00::2', '192.0.2.2'], ['fd00::2', '192.0.2.2'], CLOUD, 'fd00::2,192.0.2.2'],
    [['::'], ['fd00::2'], CLOUD, undefined],
    [[], [], CLOUD, undefined],
    [['192.0.2.2'], ['192.0.2.2'], NO_CLOUD, undefined],
  ])('of --node-ip %j with the addresses %j and %j is %j', (nodeIps, current, settings, expected) => {
    expect(providedNodeIp(aNode(nodeIps, current), settings)[PROVIDED]).toBe(expected);
  });

  test('is removed when it is stale, and others remain', () => {
    const metadata = {name: 'n1', annotations: {[PROVIDED]: '192.0.2.2', other: ''}};
    expect(updateProvidedNodeIp(metadata, aNode([], []), CLOUD)).toEqual({
      name: 'n1',
      annotations: {other: ''},
    });
    const plain = {name: 'n1'};
    expect(updateProvidedNodeIp(plain, aNode([], []), CLOUD)).toBe(plain);
  });
});

describe('host IPs', () => {
  test.each<[readonly NodeAddress[], readonly string[]]>([
    [
      [external('203.0.113.1'), internal('192.0.2.2'), internal('192.0.2.3'), internal('fd00::2')],
      ['192.0.2.2', 'fd00::2'],
    ],
    [
      [internal('fd00::2'), external('203.0.113.1')],
      ['fd00::2', '203.0.113.1'],
    ],
    [[internal('192.0.2.2'), external('203.0.113.1')], ['192.0.2.2']],
    [[internal('nonsense'), HOSTNAME], []],
  ])('of the addresses %j are %j', (addresses, expected) => {
    const node: Node = {apiVersion: 'v1', kind: 'Node', metadata: {}, spec: {}, status: {addresses}};
    expect(nodeObjectFacts(node)?.hostIps.current).toEqual(expected);
  });
});

test('a cloud controller manager initializes the node and sets its addresses', async () => {
  await using testbed = await ClusterTestbed.start(undefined, {
    settings: {externalCloudProvider: true, providerId: 'cloud://1'},
    reportFrequencyMs: 20_000,
  });
  const {api, daemon} = testbed;
  const stored = (): Node | undefined => api.storage.get(NODE_PATH) as unknown as Node | undefined;
  await daemon.until('the node is registered', () => stored() !== undefined);
  expect(stored()).toMatchObject({
    metadata: {annotations: {[PROVIDED]: '192.0.2.2'}},
    spec: {
      providerID: 'cloud://1',
      taints: [{key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule'}],
    },
    status: {addresses: [internal('192.0.2.2'), {type: 'Hostname', address: 'goldennode'}]},
  });
  const addresses = [internal('198.51.100.7'), external('203.0.113.1')];
  const node = stored();
  api.storage.put(NODE_PATH, {
    ...node,
    metadata: {...node?.metadata, annotations: {}},
    status: {...node?.status, addresses},
  });
  await daemon.until(
    'the annotation is back',
    () => stored()?.metadata.annotations?.[PROVIDED] === '192.0.2.2',
  );
  expect(stored()?.status?.addresses).toEqual(addresses);
  testbed.createPod('web');
  await daemon.until('the pod has the host IP of the cloud', () => {
    const {hostIP, hostIPs} = testbed.status('web');
    return hostIP === '198.51.100.7' && hostIPs?.length === 1;
  });
});

test('each status of the node has its current addresses', async () => {
  let found = '192.0.2.2';
  const hostIps = {
    current: [] as readonly string[],
    refresh: async () => {
      await Promise.resolve();
      if (found === '') throw new Error("can't get ip address of node goldennode");
      hostIps.current = [found];
    },
  };
  await using testbed = await ClusterTestbed.start(undefined, {node: {hostIps}, reportFrequencyMs: 20_000});
  const {api, daemon} = testbed;
  const reported = (): string | undefined =>
    (api.storage.get(NODE_PATH) as unknown as Node | undefined)?.status?.addresses?.[0]?.address;
  await daemon.until('the node has its address', () => reported() === '192.0.2.2');
  found = '192.0.2.3';
  await daemon.until('the node has its new address', () => reported() === '192.0.2.3');
  found = '';
  const before = api.requests.length;
  await daemon.until('another status was sent', () =>
    api.requests.slice(before).some(({method, path}) => method === 'PATCH' && path === `${NODE_PATH}/status`),
  );
  expect(reported()).toBe('192.0.2.3');
});
