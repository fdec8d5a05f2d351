import {readFile, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test, vi} from 'vitest';
import type {Pod} from '../../../../../src/api/types/v1-pod.js';
import {SystemError} from '../../../../../src/base/errors.js';
import {ClaimStore} from '../../../../../src/kubelet/managers/dra/local/claim-store.js';
import {LocalDra} from '../../../../../src/kubelet/managers/dra/local/local-dra.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';
import {GOLDEN_NODE} from '../../../../golden/golden-cases.js';
import {aClaim, aClass, aPodWithClaims, aTemplate, devices} from './device-fixtures.js';
import {cdi, DraNode, prepare} from './dra-node.js';

const {signal} = new AbortController();
const OBJECTS = devices(['dev'], aTemplate('one'));
const WEB = aPodWithClaims('web', 'template:one');
const OTHER = aPodWithClaims('other', 'template:one');
const NO_CLAIMS = aPodWithClaims('plain');

test('claims are known as they are reserved and released', async () => {
  const node = {...GOLDEN_NODE, rootDir: await temporaryDirectory()};
  const objects = devices(['a', 'b'], aClaim('gpu'));
  const open = (): LocalDra => new LocalDra({node, manager: 'kubelet', objects: () => objects});
  const local = open();
  for (const name of ['web', 'other']) await local.allocate(aPodWithClaims(name, 'gpu'), signal);
  const store = new ClaimStore(node.rootDir);
  const [stored] = await store.list();
  expect(local.claim('default', 'gpu')).toEqual(stored?.claim);
  const restarted = open();
  await restarted.load();
  expect([...restarted.podUids()]).toEqual(['uid-web', 'uid-other']);
  for (const each of [local, restarted]) {
    await each.release('uid-web');
    const [left] = await store.list();
    expect(left?.claim.status.reservedFor.map(({name}) => name)).toEqual(['other']);
    expect([each.ofPod('uid-web'), each.ofPod('uid-other')]).toEqual([[], [left]]);
    expect(each.claim('default', 'gpu')).toEqual(left?.claim);
  }
  await local.release('uid-other');
  expect(await store.list()).toEqual([]);
  expect(() => local.claim('default', 'gpu')).toThrow('resourceclaim "gpu" is not allocated');
});

test('pods that are allocated and released at once keep what they have', async () => {
  const node = {...GOLDEN_NODE, rootDir: await temporaryDirectory()};
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const objects = devices(names, aClass('gpu', {extendedResourceName: 'example.com/gpu'}));
  const local = new LocalDra({node, manager: 'kubelet', objects: () => objects});
  const resources = {requests: {'example.com/gpu': '1'}};
  const pods = names.map((name): Pod => {
    const pod = aPodWithClaims(name);
    return {...pod, spec: {containers: [{name: 'main', image: 'i', resources}]}};
  });
  await Promise.all(
    pods.map(async (pod, index) => {
      await local.allocate(pod, signal);
      if (index < 2) await local.release(pod.metadata.uid ?? '');
    }),
  );
  const statuses = pods.map((pod) => local.podOf(pod).status?.extendedResourceClaimStatus?.resourceClaimName);
  expect(statuses).toEqual([
    ...[undefined, undefined],
    ...names
      .slice(2)
      .map((name) => expect.stringMatching(new RegExp(`^${name}-extended-resources-`)) as string),
  ]);
});

test('the files of claims are read once for a pod', async () => {
  await using node = await DraNode.start();
  const claims = ['template:one', 'template:one', 'template:one'];
  const objects = devices(['a', 'b', 'c', 'd', 'e', 'f'], aTemplate('one'));
  const kubelet = await node.kubelet(objects);
  const list = vi.spyOn(ClaimStore.prototype, 'list');
  try {
    expect(await prepare(kubelet, aPodWithClaims('web', ...claims))).toBeUndefined();
    expect(list).toHaveBeenCalledTimes(1);
    list.mockClear();
    // A command reads them again under the locks of the claims: another process may have prepared them.
    expect(await prepare(node.command(objects), aPodWithClaims('other', ...claims))).toBeUndefined();
    expect(list).toHaveBeenCalledTimes(2);
  } finally {
    list.mockRestore();
  }
});

test('a pod without claims is the same object for containers', async () => {
  const node = {...GOLDEN_NODE, rootDir: await temporaryDirectory()};
  const local = new LocalDra({node, manager: 'kubelet', objects: () => OBJECTS});
  await local.allocate(WEB, signal);
  expect(local.podOf(OTHER)).toBe(OTHER);
  expect(local.podOf(WEB)).not.toBe(WEB);
});

test('a pod that waited is not synced any more when it is gone', async () => {
  await using node = await DraNode.start();
  const kubelet = await node.kubelet(OBJECTS);
  await prepare(kubelet, WEB);
  await prepare(kubelet, OTHER);
  expect(node.synced).toEqual(['uid-other']);
  await kubelet.podStopped?.(OTHER);
  expect(kubelet.podStatus?.(OTHER)).toBeUndefined();
  await kubelet.podStopped?.(WEB);
  expect(node.synced).toEqual(['uid-other']);
});

test.each(['kubelet', 'command'] as const)(
  'a damaged file of a claim stops only pods with claims, until it is moved away: %s',
  async (who) => {
    await using node = await DraNode.start();
    const manager = who === 'kubelet' ? await node.kubelet(OBJECTS) : node.command(OBJECTS);
    await prepare(manager, WEB);
    const [file = ''] = await node.claims();
    const path = join(node.rootDir, 'kcri/resource-claims', file);
    await writeFile(path, '{}');
    await manager.podStopped?.(NO_CLAIMS);
    await expect(manager.podStopped?.(WEB)).rejects.toMatchObject({
      message: `invalid state of a resource claim in ${JSON.stringify(path)}`,
      hint: expect.stringContaining('move the file away when their containers have stopped') as string,
    });
    await rm(path);
    await manager.podStopped?.(WEB);
    expect(await prepare(manager, OTHER)).toBeUndefined();
    expect(await cdi(manager, OTHER)).toHaveLength(1);
  },
);

test('a kubelet starts with a damaged file of a claim, and starts no container that may need it', async () => {
  await using node = await DraNode.start();
  const objects = devices(['a', 'b'], aTemplate('one'));
  const first = await node.kubelet(objects);
  await prepare(first, WEB);
  const [file = ''] = await node.claims();
  await prepare(first, OTHER);
  const path = join(node.rootDir, 'kcri/resource-claims', file);
  const text = await readFile(path, 'utf8');
  await writeFile(path, '{}');
  node.active = [WEB, OTHER];
  const restarted = await node.kubelet(objects);
  expect(await prepare(restarted, NO_CLAIMS)).toBeUndefined();
  expect(await cdi(restarted, NO_CLAIMS)).toEqual([]);
  expect(await cdi(restarted, OTHER)).toHaveLength(1);
  const message = `invalid state of a resource claim in ${JSON.stringify(path)}`;
  await expect(cdi(restarted, WEB)).rejects.toThrow(message);
  const resources = {requests: {'example.com/gpu': '1'}};
  const extended = {...NO_CLAIMS, spec: {containers: [{name: 'main', image: 'i', resources}]}};
  for (const pod of [WEB, extended])
    expect(await prepare(restarted, pod)).toMatchObject({
      message: expect.stringContaining(message) as string,
    });
  await writeFile(path, text);
  expect(await cdi(restarted, WEB)).toHaveLength(1);
});

test('claims that cannot be released do not stop the release of others, and are released later', async () => {
  await using node = await DraNode.start();
  const objects = devices(['a', 'b'], aTemplate('one'));
  const killed = new LocalDra({
    ...{node: {...GOLDEN_NODE, rootDir: node.rootDir}, manager: 'kubelet', objects: () => objects},
  });
  for (const pod of [WEB, OTHER]) await killed.allocate(pod, signal);
  node.active = [WEB, OTHER];
  const kubelet = await node.kubelet(objects);
  node.active = [];
  const remove = vi.spyOn(ClaimStore.prototype, 'delete').mockRejectedValueOnce(new SystemError('EIO'));
  try {
    await kubelet.reconcile?.run(signal);
    expect(await node.claims()).toHaveLength(1);
    await kubelet.reconcile?.run(signal);
    expect(await node.claims()).toEqual([]);
  } finally {
    remove.mockRestore();
  }
});
