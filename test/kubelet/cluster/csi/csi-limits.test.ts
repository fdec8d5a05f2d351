import {expect, test} from 'vitest';
import {attachmentName} from '../../../../src/kubelet/managers/volumes/csi/csi-paths.js';
import {CSI_DRIVER} from '../../../fakes/plugins/fake-csi-driver.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';
import {CSI_NODE, startCsiTestbed, type CsiTestbed} from './csi-testbed.js';

const PERIOD = {nodeAllocatableUpdatePeriodSeconds: 60};
const DRIVER_PATH = `/apis/storage.k8s.io/v1/csidrivers/${CSI_DRIVER}`;

/** Returns the limit of the driver in the CSINode. */
function limitOf({cluster: {api}}: CsiTestbed): number | undefined {
  const node = api.storage.get(CSI_NODE) as
    | {readonly spec?: {readonly drivers?: readonly {readonly allocatable?: {readonly count: number}}[]}}
    | undefined;
  return node?.spec?.drivers?.[0]?.allocatable?.count;
}

/** Starts a driver whose limit is what `most` returns. */
async function plugWithLimit(testbed: CsiTestbed, most: () => number) {
  return await testbed.plug({
    answers: {NodeGetInfo: () => ({node_id: 'n1', max_volumes_per_node: most()})},
  });
}

test('the limit of a driver is read in the period of its CSIDriver, which can change', async () => {
  await using testbed = await startCsiTestbed({driver: PERIOD});
  const {daemon, api} = testbed.cluster;
  let most = 5;
  const driver = await plugWithLimit(testbed, () => most);
  await daemon.until('it is known', () => limitOf(testbed) === 5);
  most = 3;
  await daemon.until('it is updated', () => limitOf(testbed) === 3);
  const stored = api.storage.get(DRIVER_PATH);
  if (stored === undefined) throw new Error('there is no CSIDriver');
  const asked = driver.callsTo('NodeGetInfo').length;
  api.storage.put(DRIVER_PATH, {...stored, spec: {nodeAllocatableUpdatePeriodSeconds: 10}});
  await daemon.until('it is asked again', () => driver.callsTo('NodeGetInfo').length > asked + 2);
});

test('a pod whose volume exceeds the limit of the node is rejected, and the CSINode has the new limit', async () => {
  await using testbed = await startCsiTestbed({driver: {nodeAllocatableUpdatePeriodSeconds: 36_000}});
  const {daemon, api} = testbed.cluster;
  let most = 5;
  await plugWithLimit(testbed, () => most);
  const attachment = attachmentName({driver: CSI_DRIVER, handle: 'h1'}, GOLDEN_NODE.nodeName);
  api.create(`/apis/storage.k8s.io/v1/volumeattachments/${attachment}`, {
    status: {attached: false, attachError: {message: 'too many', errorCode: 8}},
  });
  most = 1;
  testbed.createPod('p');
  await testbed.cluster.untilPhase('p', 'Failed');
  const message =
    'Node has reached its volume attachment limit, rejecting pod. unmounted volumes=[v], unattached volumes=[v], failed to process volumes=[]: context deadline exceeded';
  expect(testbed.cluster.status('p')).toMatchObject({
    reason: 'VolumeAttachmentLimitExceeded',
    message: `Pod was rejected: ${message}`,
  });
  expect(daemon.events).toContainEqual(
    expect.objectContaining({type: 'Warning', reason: 'VolumeAttachmentLimitExceeded', message}),
  );
  expect(limitOf(testbed)).toBe(1);
});

test('a volume that cannot be attached for another reason is waited for', async () => {
  await using testbed = await startCsiTestbed({driver: PERIOD});
  await testbed.plug();
  const attachment = attachmentName({driver: CSI_DRIVER, handle: 'h1'}, GOLDEN_NODE.nodeName);
  testbed.cluster.api.create(`/apis/storage.k8s.io/v1/volumeattachments/${attachment}`, {
    status: {attached: false, attachError: {message: 'broken', errorCode: 13}},
  });
  testbed.createPod('p');
  await testbed.cluster.daemon.until('the time is up', () => testbed.failures().length > 0);
  expect(testbed.failures()[0]).toBe(
    'Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[v], failed to process volumes=[]: context deadline exceeded',
  );
  expect(testbed.cluster.status('p').phase).toBe('Pending');
});
