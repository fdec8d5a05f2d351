import {join} from 'node:path';
import {expect, test} from 'vitest';
import {podRef} from '../../../../../src/kubelet/contract/pod-ref.js';
import {until} from '../../../../base/until.js';
import {FakeDraDriver} from '../../../../fakes/plugins/fake-dra-driver.js';
import {aPodWithClaims, aTemplate, devices, DRIVER} from './device-fixtures.js';
import {cdi, DraNode, prepare} from './dra-node.js';

const {signal} = new AbortController();

const OBJECTS = devices(['dev'], aTemplate('one'));
const WEB = aPodWithClaims('web', 'template:one');
const OTHER = aPodWithClaims('other', 'template:one');

test('a kubelet gives a device to one pod, and when that is gone, to the pod that waits', async () => {
  await using node = await DraNode.start();
  const kubelet = await node.kubelet(OBJECTS);
  expect(await prepare(kubelet, WEB)).toBeUndefined();
  expect(await cdi(kubelet, WEB)).toEqual([expect.stringMatching(/^example\.com\/dra=web-entry0-/)]);
  expect(kubelet.podStatus?.(WEB)?.fields.resourceClaimStatuses?.map(({name}) => name)).toEqual(['entry0']);

  const short = await prepare(kubelet, OTHER);
  expect(short).toEqual({
    reason: 'FailedScheduling',
    message: expect.stringMatching(
      /^cannot allocate all claims: .* 1 device on this node, 1 allocated already$/,
    ) as string,
  });
  expect(kubelet.podStatus?.(OTHER)).toEqual({fields: {}, unschedulable: short?.message});
  expect(node.synced).toEqual(['uid-other']);
  await prepare(kubelet, OTHER);
  expect(node.synced).toEqual(['uid-other']);

  await kubelet.podStopped?.(WEB);
  expect(node.driver.callsTo('NodeUnprepareResources')).toHaveLength(1);
  expect(node.synced).toEqual(['uid-other', 'uid-other']);
  expect(await prepare(kubelet, OTHER)).toBeUndefined();
  expect(kubelet.podStatus?.(OTHER)?.unschedulable).toBeUndefined();
});

test('a kubelet that was killed keeps the claims of its pods, and releases those of pods that are gone', async () => {
  await using node = await DraNode.start();
  const objects = devices(['dev', 'more'], aTemplate('one'));
  const killed = await node.kubelet(objects);
  await prepare(killed, WEB);
  await prepare(killed, OTHER);
  node.active = [WEB];
  const kubelet = await node.kubelet(objects);
  await kubelet.reconcile?.run(signal);
  expect(node.unprepared).toEqual([expect.stringMatching(/^other-/)]);
  expect(await node.claims()).toHaveLength(1);
  expect(await cdi(kubelet, WEB)).toHaveLength(1);
  node.active = [];
  await kubelet.reconcile?.run(signal);
  expect(await node.claims()).toEqual([]);
});

test('a kubelet releases the claims of a pod whose manifest is gone only when its containers have stopped', async () => {
  await using node = await DraNode.start();
  const kubelet = await node.kubelet(OBJECTS);
  await prepare(kubelet, WEB);
  node.ending = [podRef(WEB).uid];
  await kubelet.reconcile?.run(signal);
  expect(node.unprepared).toEqual([]);
  expect(await node.claims()).toHaveLength(1);
  node.ending = [];
  await kubelet.reconcile?.run(signal);
  expect(node.unprepared).toHaveLength(1);
  expect(await node.claims()).toEqual([]);
});

test('a kubelet that was killed between allocation and preparation leaves nothing', async () => {
  await using node = await DraNode.start();
  const plan = await node.kubelet(OBJECTS, true);
  expect(await prepare(plan, WEB)).toBeUndefined();
  const [main] = WEB.spec.containers;
  expect(main && plan.explain?.(WEB, main)).toMatch(
    /^device dev of dra\.example\.com, pool pool \(claim web-entry0-\w{5}, request req\)$/,
  );
  expect([await node.claims(), node.driver.calls]).toEqual([[], []]);

  const end = new AbortController();
  await using slow = await FakeDraDriver.start({
    path: join(node.rootDir, 'slow.sock'),
    answers: {
      NodePrepareResources: async () => {
        end.abort();
        return await new Promise<object>(() => undefined);
      },
    },
  });
  const killed = await node.kubelet(OBJECTS);
  const registered = {name: DRIVER, endpoint: join(node.rootDir, 'slow.sock'), versions: ['v1.DRAPlugin']};
  killed.plugins?.deregister({...registered, endpoint: join(node.rootDir, 'plugins', DRIVER, 'dra.sock')});
  await killed.plugins?.register(registered, signal);
  await expect(killed.preparePod?.(WEB, end.signal)).rejects.toThrow();
  expect([await node.claims(), slow.calls.length]).toEqual([[expect.anything()], 1]);
  const kubelet = await node.kubelet(OBJECTS);
  await kubelet.reconcile?.run(signal);
  expect(await node.claims()).toEqual([]);
  expect(node.driver.callsTo('NodeUnprepareResources')).toHaveLength(1);
});

test('a kubelet whose driver registers late prepares the claims of its pods at once, and releases those of pods that are gone', async () => {
  await using node = await DraNode.start();
  const objects = devices(['dev', 'more'], aTemplate('one'));
  const kubelet = await node.kubelet(objects);
  await prepare(kubelet, OTHER);
  const driver = {
    name: DRIVER,
    endpoint: join(node.rootDir, 'plugins', DRIVER, 'dra.sock'),
    versions: ['v1.DRAPlugin'],
  };
  kubelet.plugins?.deregister(driver);
  node.active = [WEB];
  expect(await prepare(kubelet, WEB)).toMatchObject({reason: 'FailedPrepareDynamicResources'});
  expect(node.synced).toEqual([]);
  await kubelet.plugins?.register(driver, signal);
  expect(node.synced).toEqual(['uid-web']);
  await until(async () => (await node.claims()).length === 1);
  expect(node.unprepared).toEqual([expect.stringMatching(/^other-/)]);
  expect(await prepare(kubelet, WEB)).toBeUndefined();
  kubelet.plugins?.deregister(driver);
  await kubelet.plugins?.register(driver, signal);
  expect(node.synced).toEqual(['uid-web']);
});

test('a command prepares a claim for each sandbox, and another process releases it', async () => {
  await using node = await DraNode.start();
  const sync = node.command(OBJECTS);
  expect(await prepare(sync, WEB)).toBeUndefined();
  const again = node.command(OBJECTS);
  const [name] = await cdi(again, WEB);
  expect(name).toMatch(/^example\.com\/dra=web-entry0-/);
  await prepare(again, WEB);
  expect(await cdi(node.command(OBJECTS), WEB)).toEqual([name]);
  expect(await prepare(node.command(OBJECTS), OTHER)).toMatchObject({reason: 'FailedScheduling'});
  await node.command(devices([])).podStopped?.(WEB);
  expect(node.driver.calls.map(({method}) => method)).toEqual([
    'NodePrepareResources',
    'NodePrepareResources',
    'NodeUnprepareResources',
  ]);
  expect(await node.claims()).toEqual([]);
});

test('a kubelet releases what a command has prepared, and a command what a kubelet has', async () => {
  await using node = await DraNode.start();
  await prepare(node.command(OBJECTS), WEB);
  const kubelet = await node.kubelet(OBJECTS);
  await kubelet.podStopped?.(WEB);
  expect(await node.claims()).toEqual([]);
  await prepare(kubelet, OTHER);
  await node.command(OBJECTS).podStopped?.(OTHER);
  expect(await node.claims()).toEqual([]);
  expect(node.driver.callsTo('NodeUnprepareResources').flat()).toHaveLength(2);
});

test('a pod whose driver is not there waits, and is not released without it', async () => {
  await using node = await DraNode.start();
  const sync = node.command(OBJECTS);
  await prepare(sync, WEB);
  await node[Symbol.asyncDispose]();
  expect(await prepare(node.command(OBJECTS), WEB)).toEqual({
    reason: 'FailedPrepareDynamicResources',
    message: `Failed to prepare dynamic resources: prepare dynamic resources: DRA driver ${DRIVER} is not registered`,
  });
  await expect(sync.podStopped?.(WEB)).rejects.toThrow(
    `cannot release the resource claims of the pod ${podRef(WEB).uid}: unprepare dynamic resources: DRA driver ${DRIVER} is not registered`,
  );
  expect(await node.claims()).toHaveLength(1);
});

test('a driver that does not release a claim is not waited for at the end of a kubelet, nor called again', async () => {
  await using node = await DraNode.start({
    NodeUnprepareResources: async () => await new Promise<object>(() => undefined),
  });
  const kubelet = await node.kubelet(OBJECTS);
  await prepare(kubelet, WEB);
  const stopped = expect(kubelet.podStopped?.(WEB)).rejects.toThrow('unprepare dynamic resources');
  await until(() => node.unprepared.length === 1);
  node.ended.abort();
  await stopped;
  await until(() => node.driver.openConnections === 0);
  await expect(kubelet.podStopped?.(WEB)).rejects.toThrow('the kubelet is stopping');
  expect(node.unprepared).toHaveLength(1);
  expect(await node.claims()).toHaveLength(1);
});
