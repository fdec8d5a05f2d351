import {expect, test} from 'vitest';
import type {Node, NodeStatus} from '../../../../src/api/types/v1-node.js';
import {attachmentName} from '../../../../src/kubelet/managers/volumes/csi/csi-paths.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';
import {NODE_PATH} from '../cluster-testbed.js';
import {startCsiTestbed, type CsiTestbed} from './csi-testbed.js';

const STATUS_PATH = `${NODE_PATH}/status`;

/** Reads and writes a volume in the status of the node in the API server, as its controller does. */
function controllerOf({cluster: {api, daemon}}: CsiTestbed, name: string) {
  const statusOfNode = (): NodeStatus => (api.storage.get(NODE_PATH) as Node | undefined)?.status ?? {};
  const isInUse = (): boolean => statusOfNode().volumesInUse?.includes(name) === true;
  return {
    isInUse,
    setAttached: (isAttached: boolean) => {
      const volumesAttached = isAttached ? [{name, devicePath: ''}] : [];
      api.storage.put(NODE_PATH, {
        ...api.storage.get(NODE_PATH)!,
        status: {...statusOfNode(), volumesAttached},
      });
    },
    /** Waits until the watched Node alone has the volume in use, while no status can be sent. */
    untilOutdated: async (podName: string) => {
      api.watches.stall('Node');
      api.deletePod(podName);
      await daemon.until('it is no longer in use', () => !isInUse());
      api.inject(({method, path}) => method === 'PATCH' && path === STATUS_PATH, {code: 500});
    },
    /** Waits until statuses have failed again and again. */
    untilFailed: async () => {
      const failures = (): number =>
        api.requests.filter(({path, isFault}) => path === STATUS_PATH && isFault === true).length;
      const before = failures();
      await daemon.until('statuses fail', () => failures() > before + 10);
    },
  };
}

test('a CSI volume of which only an outdated Node says that it is in use is not mounted for the next pod', async () => {
  await using testbed = await startCsiTestbed({driver: false});
  const {cluster} = testbed;
  const controller = controllerOf(testbed, 'kubernetes.io/csi/disk.example.com^h1');
  const driver = await testbed.plug();
  const attachment = attachmentName({driver: 'disk.example.com', handle: 'h1'}, GOLDEN_NODE.nodeName);
  cluster.api.create(`/apis/storage.k8s.io/v1/volumeattachments/${attachment}`, {status: {attached: true}});
  testbed.createPod('p');
  await cluster.daemon.until('it is in use', controller.isInUse);
  controller.setAttached(true);
  await cluster.untilPhase('p', 'Running');
  await controller.untilOutdated('p');
  testbed.createPod('q');
  await controller.untilFailed();
  expect(driver.callsTo('NodeStageVolume')).toHaveLength(1);
  controller.setAttached(false);
  cluster.api.clearFaults();
  await cluster.daemon.until('it is in use again', controller.isInUse);
  expect(driver.callsTo('NodeStageVolume')).toHaveLength(1);
  controller.setAttached(true);
  await cluster.untilPhase('q', 'Running');
  expect(driver.callsTo('NodeStageVolume')).toHaveLength(2);
});

test('a Fibre Channel volume of which only an outdated Node says that it is in use is not looked for', async () => {
  await using testbed = await startCsiTestbed({driver: false});
  const {cluster} = testbed;
  const controller = controllerOf(testbed, 'kubernetes.io/fc/[50a0]:1');
  const fc = {targetWWNs: ['50a0'], lun: 1};
  testbed.createPod('p', {volumes: [{name: 'v', fc}]});
  await cluster.daemon.until('it is in use', controller.isInUse);
  expect(testbed.failures()).toEqual([]);
  controller.setAttached(true);
  await cluster.daemon.until('it is looked for', () => testbed.failures().length > 0);
  await controller.untilOutdated('p');
  const before = testbed.failures().length;
  testbed.createPod('q', {volumes: [{name: 'v', fc}]});
  await controller.untilFailed();
  expect(testbed.failures()).toHaveLength(before);
  cluster.api.clearFaults();
  await cluster.daemon.until('it is looked for again', () => testbed.failures().length > before);
  expect(controller.isInUse()).toBe(true);
});
