import {expect, test} from 'vitest';
import type {Node} from '../../../../src/api/types/v1-node.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';
import {NODE_PATH, type ClusterTestbed} from '../cluster-testbed.js';
import {CSI_NODE, startCsiTestbed} from './csi-testbed.js';

const driversOf = ({api}: ClusterTestbed): unknown =>
  (api.storage.get(CSI_NODE)?.['spec'] as {readonly drivers: unknown} | undefined)?.drivers;
const nodeOf = ({api}: ClusterTestbed): Node['metadata'] | undefined =>
  (api.storage.get(NODE_PATH) as Node | undefined)?.metadata;
const nodeIdOf = (cluster: ClusterTestbed): string | undefined =>
  nodeOf(cluster)?.annotations?.['csi.volume.kubernetes.io/nodeid'];

test('a driver is added to Node and CSINode when it registers, and removed with its socket; its labels stay', async () => {
  await using testbed = await startCsiTestbed();
  const {cluster} = testbed;
  await cluster.daemon.until('the node is ready', () => cluster.api.storage.get(CSI_NODE) !== undefined);
  const info = {
    node_id: 'node-7',
    max_volumes_per_node: '5',
    accessible_topology: {segments: {'topology.example.com/zone': 'z1'}},
  };
  const driver = await testbed.plug({info});
  await cluster.daemon.until('it is registered', () => driver.registrar?.statuses.at(-1)?.['error'] === '');
  expect(driversOf(cluster)).toEqual([
    {
      name: 'disk.example.com',
      nodeID: 'node-7',
      topologyKeys: ['topology.example.com/zone'],
      allocatable: {count: 5},
    },
  ]);
  expect(nodeIdOf(cluster)).toBe('{"disk.example.com":"node-7"}');
  expect(nodeOf(cluster)?.labels).toMatchObject({'topology.example.com/zone': 'z1'});
  await driver.unregister();
  await cluster.daemon.until('it is removed', () => nodeIdOf(cluster) === undefined);
  expect(driversOf(cluster)).toEqual([]);
  expect(nodeOf(cluster)?.labels).toMatchObject({'topology.example.com/zone': 'z1'});
});

test('a CSINode of a kubelet of another version gets the plugins of this one, and keeps the rest', async () => {
  const annotation = 'storage.alpha.kubernetes.io/migrated-plugins';
  await using testbed = await startCsiTestbed({
    prepare: (api) => {
      const annotations = {[annotation]: 'kubernetes.io/aws-ebs,kubernetes.io/gce-pd', other: 'kept'};
      api.create(CSI_NODE, {metadata: {name: GOLDEN_NODE.nodeName, annotations}, spec: {drivers: []}});
    },
  });
  const {api, daemon} = testbed.cluster;
  const annotations = (): Readonly<Record<string, string>> =>
    (api.storage.get(CSI_NODE)?.metadata as Node['metadata'] | undefined)?.annotations ?? {};
  await daemon.until('it is changed', () => annotations()[annotation]?.includes('portworx-volume') === true);
  expect(annotations()['other']).toBe('kept');
});

test('a driver whose topology contradicts a label of the node is refused', async () => {
  await using testbed = await startCsiTestbed();
  const {cluster} = testbed;
  await cluster.daemon.until('the node is ready', () => cluster.api.storage.get(CSI_NODE) !== undefined);
  const driver = await testbed.plug({
    info: {node_id: 'n', accessible_topology: {segments: {'kubernetes.io/os': 'plan9'}}},
  });
  expect(driver.registrar?.statuses[0]?.['error']).toContain(
    'RegisterPlugin error -- plugin registration failed with err: error updating Node object with CSI driver node info: error updating node: timed out waiting for the condition; caused by: detected topology value collision: driver reported "kubernetes.io/os":"plan9" but existing label is "kubernetes.io/os":"linux"',
  );
  expect(driversOf(cluster)).toEqual([]);
});

test('a driver without a name for the node is refused', async () => {
  await using testbed = await startCsiTestbed();
  const driver = await testbed.plug({info: {node_id: ''}});
  expect(driver.registrar?.statuses[0]?.['error']).toBe(
    'RegisterPlugin error -- plugin registration failed with err: error adding CSI driver node info: driverNodeID must not be empty',
  );
});
