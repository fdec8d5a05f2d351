import {rm} from 'node:fs/promises';
import {expect, test} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import type {ResourceRequirements} from '../../../../src/api/types/v1-meta.js';
import type {ForegroundSyncResult} from '../../../../src/kubelet/foreground/foreground-sync-result.js';
import {aContainerSpec} from '../../../commands/command-testbed.js';
import {syncOnePod} from '../../foreground/sync-one-pod.js';
import {aLocalPod, startRegistryTestbed, type RegistryTestbed} from '../registry-testbed.js';

const SMALL = {requests: {cpu: '100m', memory: '64Mi'}, limits: {cpu: '200m', memory: '128Mi'}};
const LARGE = {requests: {cpu: '200m', memory: '96Mi'}, limits: {cpu: '400m', memory: '256Mi'}};

/** Returns a Pod with an explicit UID. */
function aPodWith(resources: ResourceRequirements): Pod {
  return aLocalPod({metadata: {uid: 'explicit-uid'}, containers: [aContainerSpec('main', {resources})]});
}

async function sync(testbed: RegistryTestbed, pod: Pod): Promise<ForegroundSyncResult> {
  return await syncOnePod(testbed, pod);
}

const updates = ({runtime}: RegistryTestbed): readonly string[] =>
  runtime.calls.map(({method}) => method).filter((method) => method.startsWith('Update'));

test('a pod of which only resources change is resized without a restart', async () => {
  const testbed = await startRegistryTestbed();
  await sync(testbed, aPodWith(SMALL));
  expect(updates(testbed)).toEqual([]);

  expect(await sync(testbed, aPodWith(LARGE))).toMatchObject({kind: 'ready'});
  expect(updates(testbed).filter((method) => method === 'UpdateContainerResources')).toHaveLength(2);
  expect(testbed.runtime.containers).toHaveLength(1);
  expect(testbed.runtime.containers[0]?.resources).toMatchObject({memoryLimitInBytes: String(2 ** 28)});
  const reasons = testbed.events.map(({reason}) => reason).filter((reason) => reason.startsWith('Resize'));
  expect(reasons).toEqual(['ResizeStarted', 'ResizeCompleted']);

  const sent = updates(testbed).length;
  await sync(testbed, aPodWith(LARGE));
  expect(updates(testbed)).toHaveLength(sent);
});

test.each([
  [
    {requests: {cpu: '9', memory: '64Mi'}, limits: {cpu: '9', memory: '128Mi'}},
    /Pod resize Infeasible: Node didn't have enough capacity: cpu, requested: 9000, capacity: 2000/,
  ],
  [{limits: SMALL.limits, requests: SMALL.limits}, /Pod QOS Class may not change/],
])('an infeasible resize is rejected and changes nothing', async (resources, message) => {
  const testbed = await startRegistryTestbed();
  await sync(testbed, aPodWith(SMALL));

  const outcome = await sync(testbed, aPodWith(resources));
  expect(outcome).toMatchObject({
    kind: 'failed',
    removed: false,
    error: {message: expect.stringMatching(message) as unknown},
  });
  expect(updates(testbed)).toEqual([]);
  expect((await testbed.pods.store.list()).records[0]?.pod.spec.containers[0]?.resources).toEqual(SMALL);
});

test('a pod without an actuated-resources checkpoint is resized', async () => {
  const testbed = await startRegistryTestbed();
  await sync(testbed, aPodWith(SMALL));
  await rm(`${testbed.node.rootDir}/kcri/resources`, {recursive: true});

  await sync(testbed, aPodWith(LARGE));
  expect(updates(testbed)).toContain('UpdateContainerResources');
});
