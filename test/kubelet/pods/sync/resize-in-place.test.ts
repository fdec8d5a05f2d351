import {rm} from 'node:fs/promises';
import {expect, test} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import type {ResourceRequirements} from '../../../../src/api/types/v1-meta.js';
import type {ForegroundSyncResult} from '../../../../src/kubelet/foreground/sync-pods.js';
import {syncOnePod} from '../../foreground/sync-one-pod.js';
import {aLocalPod, startRegistryTestbed, type RegistryTestbed} from '../registry-testbed.js';

const SMALL = {requests: {cpu: '100m', memory: '64Mi'}, limits: {cpu: '200m', memory: '128Mi'}};
const LARGE = {requests: {cpu: '200m', memory: '96Mi'}, limits: {cpu: '400m', memory: '256Mi'}};

/** A pod with a UID of its own. */
function aPod(resources: ResourceRequirements): Pod {
  const {metadata, spec, ...pod} = aLocalPod();
  const containers = spec.containers.map((container) => ({...container, resources}));
  return {...pod, metadata: {...metadata, uid: 'its-own-uid'}, spec: {...spec, containers}};
}

async function sync(testbed: RegistryTestbed, pod: Pod): Promise<ForegroundSyncResult> {
  return await syncOnePod(testbed, pod);
}

const updates = ({runtime}: RegistryTestbed): readonly string[] =>
  runtime.calls.map(({method}) => method).filter((method) => method.startsWith('Update'));

test('a pod of which only resources have changed gets them while it runs', async () => {
  const ground = await startRegistryTestbed();
  await sync(ground, aPod(SMALL));
  expect(updates(ground)).toEqual([]);

  expect(await sync(ground, aPod(LARGE))).toMatchObject({kind: 'ready'});
  expect(updates(ground).filter((method) => method === 'UpdateContainerResources')).toHaveLength(2);
  expect(ground.runtime.containers).toHaveLength(1);
  expect(ground.runtime.containers[0]?.resources).toMatchObject({memoryLimitInBytes: String(2 ** 28)});
  const told = ground.events.map(({reason}) => reason).filter((reason) => reason.startsWith('Resize'));
  expect(told).toEqual(['ResizeStarted', 'ResizeCompleted']);

  const sent = updates(ground).length;
  await sync(ground, aPod(LARGE));
  expect(updates(ground)).toHaveLength(sent);
});

test.each([
  [
    {requests: {cpu: '9', memory: '64Mi'}, limits: {cpu: '9', memory: '128Mi'}},
    /Pod resize Infeasible: Node didn't have enough capacity: cpu, requested: 9000, capacity: 2000/,
  ],
  [{limits: SMALL.limits, requests: SMALL.limits}, /Pod QOS Class may not change/],
])('what a pod can never get is refused, and changes nothing', async (resources, message) => {
  const ground = await startRegistryTestbed();
  await sync(ground, aPod(SMALL));

  const outcome = await sync(ground, aPod(resources));
  expect(outcome).toMatchObject({
    kind: 'failed',
    removed: false,
    error: {message: expect.stringMatching(message) as unknown},
  });
  expect(updates(ground)).toEqual([]);
  expect((await ground.pods.store.list()).records[0]?.pod.spec.containers[0]?.resources).toEqual(SMALL);
});

test('a pod of a kcri that kept nothing of what it gave is resized too', async () => {
  const ground = await startRegistryTestbed();
  await sync(ground, aPod(SMALL));
  await rm(`${ground.node.rootDir}/resources`, {recursive: true});

  await sync(ground, aPod(LARGE));
  expect(updates(ground)).toContain('UpdateContainerResources');
});
