import {expect, test} from 'vitest';
import type {Node, NodeCondition} from '../../../../src/api/types/v1-node.js';
import type {FakeApiServer} from '../../../fakes/api-server/fake-api-server.js';
import {ClusterTestbed, NODE_PATH} from '../cluster-testbed.js';

const DONGLE = 'example.com/dongle';
const OTHERS: NodeCondition = {type: 'KernelDeadlock', status: 'False', reason: 'KernelHasNoDeadlock'};

const nodeOf = (api: FakeApiServer): Node => api.storage.get(NODE_PATH) as unknown as Node;
const readyOf = (api: FakeApiServer): string | undefined =>
  api.storage.get(NODE_PATH) === undefined
    ? undefined
    : nodeOf(api).status?.conditions?.find(({type}) => type === 'Ready')?.status;

async function untilReady({api, daemon}: ClusterTestbed): Promise<void> {
  await daemon.until('the node is ready', () => readyOf(api) === 'True');
}

/** Changes the Node as somebody else would. */
function change(api: FakeApiServer, changes: (node: Node) => object): void {
  const node = api.storage.get(NODE_PATH)!;
  api.storage.put(NODE_PATH, {...node, ...changes(nodeOf(api))});
}

test('conditions and resources that others have added stay, and their resources are 0 after a restart', async () => {
  await using testbed = await ClusterTestbed.start();
  const {api, daemon} = testbed;
  await untilReady(testbed);
  change(api, ({status}) => ({
    status: {
      ...status,
      capacity: {...status?.capacity, [DONGLE]: '4'},
      conditions: [OTHERS, ...(status?.conditions ?? []).map((each) => ({...each, status: 'Unknown'}))],
    },
  }));
  await untilReady(testbed);
  const {conditions, allocatable, capacity} = nodeOf(api).status ?? {};
  expect(conditions?.[0]).toEqual(OTHERS);
  expect([capacity?.[DONGLE], allocatable?.[DONGLE]]).toEqual(['4', '4']);
  await daemon.stop();
  daemon.run();
  await daemon.until('the Node is reconciled', () => nodeOf(api).status?.capacity?.[DONGLE] === '0');
});

test('a node becomes ready as soon as its network is, after the start of the kubelet', async () => {
  await using testbed = await ClusterTestbed.start();
  const {api, daemon} = testbed;
  await untilReady(testbed);
  await daemon.stop();
  daemon.fake.setCondition('NetworkReady', false);
  daemon.run();
  await daemon.until('the node is not ready', () => readyOf(api) === 'False');
  daemon.fake.setCondition('NetworkReady', true);
  const changedAt = daemon.clock.now();
  await untilReady(testbed);
  expect(daemon.clock.now() - changedAt).toBeLessThan(2000);
});

test('the runtime gets the pod CIDRs of the Node, also if its first answer is an error', async () => {
  await using testbed = await ClusterTestbed.start();
  const {api, daemon} = testbed;
  await untilReady(testbed);
  const calls = () => daemon.fake.callsTo('UpdateRuntimeConfig').map(({request}) => request);
  expect(calls()).toEqual([]);
  daemon.fake.injectError('UpdateRuntimeConfig', {code: 'UNAVAILABLE', message: 'down', times: 1});
  change(api, ({spec}) => ({spec: {...spec, podCIDRs: ['10.244.1.0/24', 'fd00::/64']}}));
  await daemon.until('the runtime has the CIDRs', () => calls().length === 2);
  const expected = {runtime_config: {network_config: {pod_cidr: '10.244.1.0/24,fd00::/64'}}};
  expect(calls()).toEqual([expected, expected]);
  expect(daemon.errors.filter((error) => error.startsWith('Error updating pod CIDR'))).toHaveLength(1);
});

test('a node that may not create its Node is registered with the existing one', async () => {
  await using testbed = await ClusterTestbed.start((api) => {
    api.create(NODE_PATH, {metadata: {labels: {team: 'a'}}, spec: {}});
    api.inject(({method, path}) => method === 'POST' && path === '/api/v1/nodes', {code: 403});
  });
  await untilReady(testbed);
  expect(nodeOf(testbed.api).metadata.labels).toMatchObject({
    team: 'a',
    'kubernetes.io/hostname': 'goldennode',
  });
});

test('labels of the topology are put back at the start, and removed if they have no value', async () => {
  const zone = 'topology.kubernetes.io/zone';
  const beta = 'failure-domain.beta.kubernetes.io/zone';
  const node = {labels: {[zone]: 'b', [beta]: '', own: 'new'}};
  await using testbed = await ClusterTestbed.start(
    (api) => {
      api.create(NODE_PATH, {metadata: {labels: {[zone]: 'a', [beta]: 'a', own: 'old'}}, spec: {}});
    },
    {node},
  );
  await untilReady(testbed);
  expect(nodeOf(testbed.api).metadata.labels).toEqual({[zone]: 'b', own: 'old'});
});
