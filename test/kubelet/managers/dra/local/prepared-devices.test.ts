import {join} from 'node:path';
import {expect, test} from 'vitest';
import {createDeviceObjects} from '../../../../../src/kubelet/contract/resources/device-objects.js';
import {formatDraCheckpoint} from '../../../../../src/kubelet/managers/dra/core/dra-checkpoint.js';
import {writeCheckpointFile} from '../../../../../src/kubelet/resources/checkpoint/checkpoint.js';
import {aClass, aPodWithClaims, aSlice, aTemplate, devices, DRIVER} from './device-fixtures.js';
import {DraNode, prepare} from './dra-node.js';

const OBJECTS = devices(['dev'], aTemplate('one'));
const WEB = aPodWithClaims('web', 'template:one');

test('a device that is prepared for a pod with admin access is still free', async () => {
  await using node = await DraNode.start();
  const request = {name: 'req', exactly: {deviceClassName: 'gpu', adminAccess: true}};
  const admin = aTemplate('admin', {devices: {requests: [request]}});
  const kubelet = await node.kubelet(devices(['dev'], aTemplate('one'), admin));
  expect(await prepare(kubelet, aPodWithClaims('monitor', 'template:admin'))).toBeUndefined();
  expect(await prepare(kubelet, WEB)).toBeUndefined();
  expect(await prepare(kubelet, aPodWithClaims('other', 'template:one'))).toMatchObject({
    reason: 'FailedScheduling',
  });
});

test('a device that allows several allocations is shared, also if its driver returns no share ID', async () => {
  await using node = await DraNode.start();
  const {spec, ...slice} = aSlice();
  const shared = {...slice, spec: {...spec, devices: [{name: 'dev', allowMultipleAllocations: true}]}};
  const kubelet = await node.kubelet(createDeviceObjects([aClass('gpu'), shared, aTemplate('one')]));
  for (const name of ['web', 'other', 'third'])
    expect(await prepare(kubelet, aPodWithClaims(name, 'template:one'))).toBeUndefined();
  expect(node.driver.callsTo('NodePrepareResources')).toHaveLength(3);
});

test.each(['a command', 'a plan'])(
  '%s gives away no device that a kubelet of a cluster has prepared',
  async (who) => {
    await using node = await DraNode.start();
    const device = {poolName: 'pool', deviceName: 'dev', shareId: undefined};
    const claim = {
      ...{uid: 'uid-of-the-cluster', name: 'gpu', namespace: 'default', podUids: new Set(['uid'])},
      drivers: new Map([[DRIVER, [{...device, requestNames: undefined, cdiDeviceIds: undefined}]]]),
    };
    await writeCheckpointFile(join(node.rootDir, 'dra_manager_state'), formatDraCheckpoint([claim]));
    const manager = who === 'a plan' ? await node.kubelet(OBJECTS, true) : node.command(OBJECTS);
    expect(await prepare(manager, WEB)).toMatchObject({
      reason: 'FailedScheduling',
      message: expect.stringContaining('1 device on this node, 1 allocated already') as string,
    });
  },
);

test('a plan that would end a pod of a kubelet gives its device to another, and stores nothing', async () => {
  await using node = await DraNode.start();
  await prepare(await node.kubelet(OBJECTS), WEB);
  const stored = await node.claims();
  const plan = await node.kubelet(OBJECTS, true);
  const other = aPodWithClaims('other', 'template:one');
  expect(await prepare(plan, other)).toMatchObject({reason: 'FailedScheduling'});
  await plan.podStopped?.(WEB);
  expect(await prepare(plan, other)).toBeUndefined();
  expect([await node.claims(), node.driver.callsTo('NodeUnprepareResources')]).toEqual([stored, []]);
});
