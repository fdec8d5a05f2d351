import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {Node, NodeStatus} from '../../../../src/api/types/v1-node.js';
import {
  attachmentName,
  ephemeralHandle,
  stagingPath,
} from '../../../../src/kubelet/managers/volumes/csi/csi-paths.js';
import {NO_METRICS, type VolumeOperation} from '../../../../src/kubelet/contract/kubelet-metrics.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';
import {NODE_PATH} from '../cluster-testbed.js';
import {startCsiTestbed} from './csi-testbed.js';

test('a PersistentVolume is staged and published for its pod, and released when the pod is deleted', async () => {
  await using testbed = await startCsiTestbed({source: {fsType: 'ext4', volumeAttributes: {k: 'v'}}});
  const driver = await testbed.plug();
  testbed.createPod('p');
  await testbed.cluster.untilPhase('p', 'Running');
  const [staged] = driver.callsTo('NodeStageVolume');
  const staging = String(staged?.['staging_target_path']);
  expect(staging).toMatch(/\/plugins\/kubernetes\.io\/csi\/disk\.example\.com\/[0-9a-f]{64}\/globalmount$/);
  expect(staged).toMatchObject({
    volume_id: 'h1',
    volume_context: {k: 'v'},
    volume_capability: {access_mode: {mode: 'SINGLE_NODE_WRITER'}, mount: {fs_type: 'ext4'}},
  });
  const volume = testbed.podVolume('p');
  expect(driver.callsTo('NodePublishVolume')).toMatchObject([
    {volume_id: 'h1', target_path: join(volume, 'mount'), staging_target_path: staging},
  ]);
  expect(JSON.parse(readFileSync(join(volume, 'vol_data.json'), 'utf8'))).toEqual({
    attachmentID: expect.stringMatching(/^csi-[0-9a-f]{64}$/) as string,
    driverName: 'disk.example.com',
    nodeName: GOLDEN_NODE.nodeName,
    specVolID: 'pv',
    volumeHandle: 'h1',
    volumeLifecycleMode: 'Persistent',
  });
  testbed.cluster.api.deletePod('p');
  await testbed.cluster.untilDeleted('p');
  await testbed.cluster.daemon.until('it is unstaged', () => driver.callsTo('NodeUnstageVolume').length > 0);
  expect(driver.changes).toEqual([
    ...['NodeStageVolume', 'NodePublishVolume', 'NodeUnpublishVolume', 'NodeUnstageVolume'],
  ]);
  expect(existsSync(volume)).toBe(false);
  await testbed.cluster.daemon.until('nothing is left', () => testbed.staged().length === 0);
});

test('calls that fail are repeated with a growing delay, with an event for each failure to mount', async () => {
  await using testbed = await startCsiTestbed();
  const {daemon, api} = testbed.cluster;
  const driver = await testbed.plug();
  driver.fail('NodeStageVolume', 'UNAVAILABLE', 'not yet', 2);
  driver.fail('NodePublishVolume', 'INTERNAL', 'broken');
  driver.fail('NodeUnpublishVolume', 'INTERNAL', 'busy', 2);
  driver.fail('NodeUnstageVolume', 'UNAVAILABLE', 'busy too');
  testbed.createPod('p');
  await testbed.cluster.untilPhase('p', 'Running');
  expect(new Set(testbed.failures())).toEqual(
    new Set([
      'MountVolume.MountDevice failed for volume "pv" : rpc error: code = Unavailable desc = not yet',
      'MountVolume.SetUp failed for volume "pv" : rpc error: code = Internal desc = broken',
    ]),
  );
  api.deletePod('p');
  await testbed.cluster.untilDeleted('p');
  await daemon.until('it is unstaged', () => testbed.staged().length === 0);
  expect(driver.changes).toEqual([
    ...['NodeStageVolume', 'NodeStageVolume', 'NodeStageVolume', 'NodePublishVolume', 'NodePublishVolume'],
    ...['NodeUnpublishVolume', 'NodeUnpublishVolume', 'NodeUnpublishVolume'],
    ...['NodeUnstageVolume', 'NodeUnstageVolume'],
  ]);
});

test('a volume is staged once for two pods, and unstaged after the last one', async () => {
  await using testbed = await startCsiTestbed();
  const {cluster} = testbed;
  const driver = await testbed.plug();
  for (const name of ['p', 'q']) testbed.createPod(name);
  for (const name of ['p', 'q']) await cluster.untilPhase(name, 'Running');
  expect(driver.callsTo('NodeStageVolume')).toHaveLength(1);
  cluster.api.deletePod('p');
  await cluster.untilDeleted('p');
  expect(driver.callsTo('NodeUnstageVolume')).toEqual([]);
  cluster.api.deletePod('q');
  await cluster.untilDeleted('q');
  await cluster.daemon.until('it is unstaged', () => testbed.staged().length === 0);
});

test('a volume for one pod is refused to a second one', async () => {
  await using testbed = await startCsiTestbed({volume: {accessModes: ['ReadWriteOncePod']}});
  await testbed.plug();
  testbed.createPod('p');
  await testbed.cluster.untilPhase('p', 'Running');
  testbed.createPod('q');
  await testbed.cluster.daemon.until('it is refused', () => testbed.failures().length > 0);
  expect(testbed.failures()[0]).toBe(
    'MountVolume.SetUp failed for volume "pv" : volume uses the ReadWriteOncePod access mode and is already in use by another pod',
  );
});

test('a pod waits for a driver that registers later', async () => {
  await using testbed = await startCsiTestbed();
  testbed.createPod('p');
  await testbed.cluster.daemon.until('the mount failed', () => testbed.failures().length > 0);
  expect(testbed.failures()[0]).toBe(
    'MountVolume.MountDevice failed for volume "pv" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name disk.example.com not found in the list of registered CSI drivers',
  );
  await testbed.plug();
  await testbed.cluster.untilPhase('p', 'Running');
});

test('a driver that hangs blocks only its pod, whose deletion ends the call', async () => {
  await using testbed = await startCsiTestbed();
  const {cluster} = testbed;
  const driver = await testbed.plug({answers: {NodeStageVolume: () => new Promise(() => undefined)}});
  testbed.createPod('p');
  await cluster.daemon.until('it hangs', () => driver.callsTo('NodeStageVolume').length > 0);
  cluster.createPod('q');
  await cluster.untilPhase('q', 'Running');
  cluster.api.deletePod('p');
  await cluster.untilDeleted('p');
  await cluster.daemon.until('it is unstaged', () => testbed.staged().length === 0);
  expect(driver.changes).toEqual(['NodeStageVolume', 'NodeUnstageVolume']);
});

test('after a restart the volumes of running pods are published again, and those without a pod are released', async () => {
  await using testbed = await startCsiTestbed();
  const {cluster} = testbed;
  const {daemon} = cluster;
  const driver = await testbed.plug();
  testbed.createPod('p');
  await cluster.untilPhase('p', 'Running');
  await daemon.stop();
  const other = stagingPath({rootDir: daemon.rootDir}, {driver: 'disk.example.com', handle: 'left'});
  mkdirSync(other, {recursive: true});
  writeFileSync(join(other, '../vol_data.json'), '{"driverName":"disk.example.com","volumeHandle":"left"}\n');
  const before = driver.changes.length;
  daemon.run();
  await daemon.until('it is published again', () => driver.callsTo('NodePublishVolume').length === 2);
  await daemon.until('the other one is released', () => driver.callsTo('NodeUnstageVolume').length > 0);
  expect(driver.changes.slice(before).toSorted()).toEqual([
    ...['NodePublishVolume', 'NodeStageVolume', 'NodeUnstageVolume'],
  ]);
  expect(driver.callsTo('NodeUnstageVolume')).toMatchObject([{volume_id: 'left'}]);
  cluster.api.deletePod('p');
  await cluster.untilDeleted('p');
  await daemon.until('it is unstaged', () => driver.callsTo('NodeUnstageVolume').length === 2);
});

test('a volume is reported as in use and waits until it is attached, and is in use until it is unstaged', async () => {
  const name = 'kubernetes.io/csi/disk.example.com^h1';
  const verified: string[] = [];
  const volumeOperated = ({plugin, operation, isSuccessful}: VolumeOperation): void => {
    if (operation === 'verify_controller_attached_volume') verified.push(`${plugin} ${isSuccessful}`);
  };
  const metrics = {...NO_METRICS, volumeOperated, pleg: () => undefined};
  await using testbed = await startCsiTestbed({driver: false, metrics});
  const {cluster} = testbed;
  const {api, daemon} = cluster;
  const statusOfNode = (): NodeStatus => (api.storage.get(NODE_PATH) as Node | undefined)?.status ?? {};
  const driver = await testbed.plug();
  testbed.createPod('p');
  await daemon.until('it is in use', () => statusOfNode().volumesInUse?.includes(name) === true);
  expect(driver.changes).toEqual([]);
  const attachment = attachmentName({driver: 'disk.example.com', handle: 'h1'}, GOLDEN_NODE.nodeName);
  api.create(`/apis/storage.k8s.io/v1/volumeattachments/${attachment}`, {
    status: {attached: true, attachmentMetadata: {device: '/dev/x'}},
  });
  const node = api.storage.get(NODE_PATH);
  if (node === undefined) throw new Error('there is no Node');
  const status = {...statusOfNode(), volumesAttached: [{name, devicePath: ''}]};
  api.storage.put(NODE_PATH, {...node, status});
  await cluster.untilPhase('p', 'Running');
  expect(driver.callsTo('NodeStageVolume')).toMatchObject([{publish_context: {device: '/dev/x'}}]);
  expect(driver.callsTo('NodePublishVolume')).toMatchObject([{publish_context: {device: '/dev/x'}}]);
  testbed.createPod('q');
  await cluster.untilPhase('q', 'Running');
  expect(verified).toEqual(['kubernetes.io/csi:disk.example.com true']);
  api.deletePod('q');
  await cluster.untilDeleted('q');
  api.deletePod('p');
  await daemon.until('it is no longer in use', () => statusOfNode().volumesInUse === undefined);
  expect(driver.changes.at(-1)).toBe('NodeUnstageVolume');
});

test('a volume in the spec of a pod is published with what its driver wants to know, and secrets are hidden in errors', async () => {
  await using testbed = await startCsiTestbed({
    driver: {
      ...{attachRequired: false, podInfoOnMount: true, fsGroupPolicy: 'None'},
      ...{volumeLifecycleModes: ['Ephemeral'], tokenRequests: [{audience: 'vault'}]},
    },
    prepare: (api) => {
      const password = Buffer.from('pa55word').toString('base64');
      api.create('/api/v1/namespaces/default/secrets/login', {data: {password}});
    },
  });
  const {cluster} = testbed;
  const driver = await testbed.plug();
  driver.fail('NodePublishVolume', 'INVALID_ARGUMENT', 'no access with pa55word');
  const csi = {
    driver: 'disk.example.com',
    volumeAttributes: {a: 'b'},
    nodePublishSecretRef: {name: 'login'},
  };
  testbed.createPod('p', {serviceAccountName: 'robot', volumes: [{name: 'v', csi}]});
  await cluster.untilPhase('p', 'Running');
  expect(testbed.failures()).toEqual([
    'MountVolume.SetUp failed for volume "v" : rpc error: code = InvalidArgument desc = no access with ***',
  ]);
  const {uid} = cluster.api.pod('p')?.metadata ?? {uid: ''};
  const [, published] = driver.callsTo('NodePublishVolume');
  expect(published).toMatchObject({
    volume_id: ephemeralHandle(uid, 'v'),
    staging_target_path: '',
    secrets: {password: 'pa55word'},
    volume_context: {
      a: 'b',
      'csi.storage.k8s.io/pod.name': 'p',
      'csi.storage.k8s.io/pod.namespace': 'default',
      'csi.storage.k8s.io/pod.uid': uid,
      'csi.storage.k8s.io/serviceAccount.name': 'robot',
      'csi.storage.k8s.io/ephemeral': 'true',
    },
  });
  const context = published?.['volume_context'] as Readonly<Record<string, string>>;
  expect(JSON.parse(context['csi.storage.k8s.io/serviceAccount.tokens'] ?? '')).toEqual({
    vault: {
      token: expect.any(String) as string,
      expirationTimestamp: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    },
  });
  cluster.api.deletePod('p');
  await cluster.untilDeleted('p');
  expect(driver.changes).toEqual(['NodePublishVolume', 'NodePublishVolume', 'NodeUnpublishVolume']);
});

test('without a controller that attaches volumes, a volume that must be attached fails', async () => {
  await using testbed = await startCsiTestbed({driver: false, settings: {controllerAttaches: false}});
  const {api, daemon} = testbed.cluster;
  await testbed.plug();
  testbed.createPod('p');
  await daemon.until('it is refused', () => testbed.failures().length > 0);
  expect(testbed.failures()[0]).toBe(
    'AttachVolume.Attach failed for volume "pv" : attaching volumes from the kubelet is not supported',
  );
  const node = api.storage.get(NODE_PATH) as Node | undefined;
  expect(node?.metadata.annotations).not.toHaveProperty([
    'volumes.kubernetes.io/controller-managed-attach-detach',
  ]);
  expect(node?.status?.volumesInUse).toBeUndefined();
});

test('the volume of a pod that was deleted while no kubelet ran is unpublished and unstaged', async () => {
  await using testbed = await startCsiTestbed();
  const {cluster} = testbed;
  const driver = await testbed.plug();
  testbed.createPod('p');
  await cluster.untilPhase('p', 'Running');
  const volume = testbed.podVolume('p');
  await cluster.daemon.stop();
  cluster.api.storage.delete('/api/v1/namespaces/default/pods/p');
  cluster.daemon.run();
  await cluster.daemon.until('it is unstaged', () => driver.callsTo('NodeUnstageVolume').length > 0);
  expect(driver.changes.slice(-2)).toEqual(['NodeUnpublishVolume', 'NodeUnstageVolume']);
  await cluster.daemon.until('nothing is left', () => !existsSync(volume) && testbed.staged().length === 0);
});

test('a driver with requiresRepublish gets the volume again; it stays mounted if that fails', async () => {
  await using testbed = await startCsiTestbed({
    driver: {attachRequired: false, fsGroupPolicy: 'None', requiresRepublish: true},
  });
  const {cluster} = testbed;
  const driver = await testbed.plug();
  testbed.createPod('p');
  await cluster.untilPhase('p', 'Running');
  const volume = testbed.podVolume('p');
  const before = driver.callsTo('NodePublishVolume').length;
  driver.fail('NodePublishVolume', 'INTERNAL', 'later');
  await cluster.daemon.until(
    'it is published',
    () => driver.callsTo('NodePublishVolume').length > before + 1,
  );
  expect(existsSync(join(volume, 'mount'))).toBe(true);
  expect(existsSync(join(volume, 'vol_data.json'))).toBe(true);
  expect(driver.callsTo('NodeStageVolume')).toHaveLength(1);
  expect(testbed.cluster.status('p').phase).toBe('Running');
});
