import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {Node, NodeStatus} from '../../../../src/api/types/v1-node.js';
import {attachmentName} from '../../../../src/kubelet/managers/volumes/csi/csi-paths.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';
import {NODE_PATH} from '../cluster-testbed.js';
import {startCsiTestbed, type CsiTestbed} from './csi-testbed.js';

const AZURE = 'disk.csi.azure.com';
const URI = '/subscriptions/s1/disks/d1';
const DISK = {diskName: 'd1', diskURI: URI, kind: 'Managed', cachingMode: 'None', fsType: 'ext4'};

function statusOfNode({cluster: {api}}: CsiTestbed): NodeStatus {
  return (api.storage.get(NODE_PATH) as Node | undefined)?.status ?? {};
}

/** Marks a volume as attached, as the controllers do. */
function attach(testbed: CsiTestbed, driver: string, handle: string): void {
  const {api} = testbed.cluster;
  const attachment = attachmentName({driver, handle}, GOLDEN_NODE.nodeName);
  api.create(`/apis/storage.k8s.io/v1/volumeattachments/${attachment}`, {
    status: {attached: true, attachmentMetadata: {lun: '3'}},
  });
  const node = api.storage.get(NODE_PATH);
  const name = `kubernetes.io/csi/${driver}^${handle}`;
  if (node === undefined) throw new Error('there is no Node');
  const status = {...statusOfNode(testbed), volumesAttached: [{name, devicePath: ''}]};
  api.storage.put(NODE_PATH, {...node, status});
}

test('a disk of Azure in the spec of a pod is attached by controllers and mounted by its CSI driver', async () => {
  await using testbed = await startCsiTestbed();
  const {cluster} = testbed;
  const {api, daemon} = cluster;
  const driver = await testbed.plug({name: AZURE});
  testbed.createPod('p', {volumes: [{name: 'v', azureDisk: DISK}]});
  const inUse = `kubernetes.io/csi/${AZURE}^${URI}`;
  await daemon.until('it is in use', () => statusOfNode(testbed).volumesInUse?.includes(inUse) === true);
  expect(driver.changes).toEqual([]);
  attach(testbed, AZURE, URI);
  await cluster.untilPhase('p', 'Running');
  expect(driver.callsTo('NodeStageVolume')).toMatchObject([
    {
      ...{volume_id: URI, publish_context: {lun: '3'}},
      volume_context: {kind: 'Managed', cachingmode: 'None', fstype: 'ext4'},
      volume_capability: {access_mode: {mode: 'SINGLE_NODE_WRITER'}, mount: {fs_type: 'ext4'}},
    },
  ]);
  const volumes = join(daemon.rootDir, 'pods', api.pod('p')?.metadata.uid ?? '', 'volumes/kubernetes.io~csi');
  expect(readdirSync(volumes)).toEqual(['~subscriptions~s1~disks~d1']);
  const directory = join(volumes, '~subscriptions~s1~disks~d1');
  expect(driver.callsTo('NodePublishVolume')).toMatchObject([{target_path: join(directory, 'mount')}]);
  expect(JSON.parse(readFileSync(join(directory, 'vol_data.json'), 'utf8'))).toMatchObject({
    specVolID: URI,
    volumeLifecycleMode: 'Persistent',
  });
  await daemon.stop();
  daemon.run();
  await daemon.until('it is published again', () => driver.callsTo('NodePublishVolume').length === 2);
  api.deletePod('p');
  await cluster.untilDeleted('p');
  await daemon.until('it is no longer in use', () => statusOfNode(testbed).volumesInUse === undefined);
  expect(driver.changes.slice(-2)).toEqual(['NodeUnpublishVolume', 'NodeUnstageVolume']);
  expect(existsSync(directory)).toBe(false);
});

test('a share of Azure in the spec of a pod is staged with the Secret of the pod', async () => {
  const driverObject = '/apis/storage.k8s.io/v1/csidrivers/file.csi.azure.com';
  await using testbed = await startCsiTestbed({
    prepare: (api) => {
      api.create(driverObject, {spec: {attachRequired: false, fsGroupPolicy: 'None'}});
      const key = Buffer.from('k3y').toString('base64');
      api.create('/api/v1/namespaces/default/secrets/azure-secret', {data: {key}});
    },
  });
  const driver = await testbed.plug({name: 'file.csi.azure.com'});
  const azureFile = {secretName: 'azure-secret', shareName: 's', readOnly: true};
  testbed.createPod('p', {volumes: [{name: 'v', azureFile}]});
  await testbed.cluster.untilPhase('p', 'Running');
  expect(driver.callsTo('NodeStageVolume')).toMatchObject([
    {volume_id: '#azure-secret#s#v#default', secrets: {key: 'k3y'}, volume_context: {sharename: 's'}},
  ]);
  expect(driver.callsTo('NodePublishVolume')).toMatchObject([
    {readonly: false, volume_capability: {access_mode: {mode: 'MULTI_NODE_MULTI_WRITER'}}},
  ]);
});

test('a disk in the spec of a pod waits for its CSI driver, and one that the driver does not know is an event', async () => {
  await using testbed = await startCsiTestbed({
    prepare: (api) => {
      api.create(`/apis/storage.k8s.io/v1/csidrivers/${AZURE}`, {spec: {attachRequired: false}});
    },
  });
  const {daemon} = testbed.cluster;
  testbed.createPod('p', {volumes: [{name: 'v', azureDisk: DISK}]});
  await daemon.until('it fails', () => testbed.failures().length > 0);
  expect(testbed.failures()[0]).toBe(
    `MountVolume.MountDevice failed for volume "${URI}" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name ${AZURE} not found in the list of registered CSI drivers`,
  );
  await testbed.plug({name: AZURE});
  await testbed.cluster.untilPhase('p', 'Running');
  testbed.createPod('q', {volumes: [{name: 'v', azureDisk: {...DISK, kind: 'Dedicated'}}]});
  await daemon.until('it is refused', () => testbed.failures().length > 1);
  expect(testbed.failures()[1]).toContain('kind(Dedicated) is not supported in csi migration');
});

test('a migrated PersistentVolume is for the nodes with the label of its driver, also as a block device', async () => {
  const zone = 'topology.kubernetes.io/zone';
  const affinity = {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: 'In', values: ['a']}]}]};
  await using testbed = await startCsiTestbed({
    volume: {
      ...{csi: undefined, volumeMode: 'Block', nodeAffinity: {required: affinity}},
      awsElasticBlockStore: {volumeID: 'aws://a/vol-1', fsType: 'ext4'},
    },
    prepare: (api) => {
      api.create('/apis/storage.k8s.io/v1/csidrivers/ebs.csi.aws.com', {spec: {attachRequired: false}});
    },
  });
  const info = {node_id: 'n1', accessible_topology: {segments: {'topology.ebs.csi.aws.com/zone': 'a'}}};
  const driver = await testbed.plug({name: 'ebs.csi.aws.com', info});
  testbed.createPod('p', {
    containers: [{name: 'main', image: 'busybox', volumeDevices: [{name: 'v', devicePath: '/dev/x'}]}],
  });
  const staged = (): readonly object[] => driver.callsTo('NodeStageVolume');
  await testbed.cluster.daemon.until('it is staged', () => staged().length > 0);
  expect(staged()[0]).toMatchObject({volume_id: 'vol-1', volume_capability: {block: {}}});
});
