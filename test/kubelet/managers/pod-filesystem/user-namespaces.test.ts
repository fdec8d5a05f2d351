import {mkdir, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import {
  allocateUserNamespace,
  plannedUserNamespace,
} from '../../../../src/kubelet/managers/pod-filesystem/user-namespaces.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {aPod} from '../../../fakes/a-pod.js';

const BLOCK = 65_536;

interface UserNamespaceTestbed {
  readonly node: {readonly rootDir: string};
  /** Creates the directory of a pod; resolves with the pod. */
  readonly pod: (uid: string) => Promise<Pod>;
  readonly file: (uid: string) => string;
}

async function createTestbed(): Promise<UserNamespaceTestbed> {
  const rootDir = await temporaryDirectory();
  return {
    node: {rootDir},
    pod: async (uid) => {
      await mkdir(join(rootDir, 'pods', uid), {recursive: true});
      return aPod({hostUsers: false}, {uid});
    },
    file: (uid) => join(rootDir, 'pods', uid, 'userns'),
  };
}

test('the mappings are written to the pod directory in the format of the kubelet, readable by root only', async () => {
  const {node, pod, file} = await createTestbed();

  const mapping = await allocateUserNamespace(node, await pod('u1'), () => 0);

  expect(mapping).toEqual({hostId: BLOCK, containerId: 0, length: BLOCK});
  const entry = '[{"hostId":65536,"containerId":0,"length":65536}]';
  expect(await readFile(file('u1'), 'utf8')).toBe(`{"uidMappings":${entry},"gidMappings":${entry}}`);
  expect((await stat(file('u1'))).mode & 0o777).toBe(0o600);
});

test('a pod keeps its mappings', async () => {
  const {node, pod} = await createTestbed();
  const first = await allocateUserNamespace(node, await pod('u1'), () => 7);

  expect(await allocateUserNamespace(node, await pod('u1'), () => 50)).toEqual(first);
  expect(await plannedUserNamespace(node, await pod('u1'))).toEqual(first);
});

test('a file of another program beside the directories of pods is ignored', async () => {
  const {node, pod} = await createTestbed();
  const first = await pod('u1');
  await writeFile(join(node.rootDir, 'pods/other'), 'x');

  expect(await allocateUserNamespace(node, first, () => 0)).toMatchObject({hostId: BLOCK});
});

test('concurrently created pods get different mappings', async () => {
  const {node, pod} = await createTestbed();
  const pods = await Promise.all(Array.from({length: 4}, (_, index) => pod(`u${index}`)));

  const mappings = await Promise.all(pods.map((one) => allocateUserNamespace(node, one, () => 65_532)));

  const hostIds = mappings.map(({hostId}) => hostId / BLOCK).sort((a, b) => a - b);
  expect(hostIds).toEqual([1, 2, 65_533, 65_534]);
});

test('pods have mappings up to the last block of IDs, as in a kubelet', async () => {
  const {node, pod, file} = await createTestbed();
  await pod('others');
  const almostAll = [{hostId: BLOCK, containerId: 0, length: 65_533 * BLOCK}];
  await writeFile(file('others'), JSON.stringify({uidMappings: almostAll, gidMappings: almostAll}));

  expect((await allocateUserNamespace(node, await pod('last'), () => 5)).hostId).toBe(65_534 * BLOCK);
  await expect(allocateUserNamespace(node, await pod('one-more'), () => 5)).rejects.toThrow(
    'could not find an empty slot to allocate a user namespace',
  );
});

test('mappings are free again after the pod directory is removed', async () => {
  const {node, pod, file} = await createTestbed();
  const first = await allocateUserNamespace(node, await pod('u1'), () => 0);
  expect(await allocateUserNamespace(node, await pod('u2'), () => 0)).not.toEqual(first);

  await rm(join(file('u1'), '..'), {recursive: true});

  expect(await allocateUserNamespace(node, await pod('u3'), () => 0)).toEqual(first);
});

test('IDs that overlap with those of another pod are not allocated', async () => {
  const {node, pod, file} = await createTestbed();
  await pod('other');
  const odd = [{hostId: BLOCK + 5, containerId: 0, length: BLOCK}];
  await writeFile(file('other'), JSON.stringify({uidMappings: odd, gidMappings: odd}));

  expect((await allocateUserNamespace(node, await pod('u1'), () => 0)).hostId).toBe(3 * BLOCK);
});

test('a plan predicts the mappings without allocating them', async () => {
  const {node, pod, file} = await createTestbed();

  expect(await plannedUserNamespace(node, await pod('u1'))).toMatchObject({hostId: BLOCK});
  await expect(stat(file('u1'))).rejects.toThrow('ENOENT');
});

describe('an invalid mappings file blocks the allocation, because its IDs may be in use:', () => {
  const mapping = {hostId: BLOCK, containerId: 0, length: BLOCK};
  test.each<[string, string, string]>([
    ['invalid JSON', '{', 'invalid user namespace mappings file'],
    ['no mappings', '{}', 'invalid user namespace mappings file'],
    ['nothing', 'null', 'invalid user namespace mappings file'],
    [
      'two mappings',
      JSON.stringify({uidMappings: [mapping, mapping], gidMappings: [mapping, mapping]}),
      'invalid user namespace configuration: no more than one mapping allowed.',
    ],
    [
      'other GIDs',
      JSON.stringify({uidMappings: [mapping], gidMappings: [{...mapping, hostId: 1}]}),
      'invalid user namespace configuration: GID and UID mapping should be identical',
    ],
    [
      'no mapping of root',
      JSON.stringify({
        uidMappings: [{...mapping, containerId: 1}],
        gidMappings: [{...mapping, containerId: 1}],
      }),
      'invalid user namespace configuration: UID 0 must be mapped',
    ],
  ])('%s', async (_, text, problem) => {
    const {node, pod, file} = await createTestbed();
    await pod('other');
    await writeFile(file('other'), text);

    await expect(allocateUserNamespace(node, await pod('u1'), () => 0)).rejects.toThrow(problem);
  });
});

test('idsPerUserNamespace is the length of new mappings, which overlap no older ones', async () => {
  const {node, pod} = await createTestbed();
  await allocateUserNamespace(node, await pod('u1'), () => 1);
  const large = {...node, idsPerUserNamespace: 4 * BLOCK};

  expect(await allocateUserNamespace(large, await pod('u2'), () => 0)).toEqual({
    hostId: 4 * BLOCK,
    containerId: 0,
    length: 4 * BLOCK,
  });
  const huge = {...node, idsPerUserNamespace: 3 * 2 ** 29};
  expect((await plannedUserNamespace(huge, await pod('u3'))).hostId).toBe(3 * 2 ** 29);
  await allocateUserNamespace(huge, await pod('u3'), () => 0);
  await expect(allocateUserNamespace(huge, await pod('u4'), () => 0)).rejects.toThrow(
    'could not find an empty slot',
  );
});

test('no block of IDs contains the ID that is none, 2^32 - 1', async () => {
  const {node, pod} = await createTestbed();
  const quarters = {...node, idsPerUserNamespace: 2 ** 30};
  const hostIds = [];
  for (const uid of ['u1', 'u2']) {
    const {hostId} = await allocateUserNamespace(quarters, await pod(uid), () => 0);
    hostIds.push(hostId);
  }
  expect(hostIds).toEqual([2 ** 30, 2 ** 31]);
  await expect(allocateUserNamespace(quarters, await pod('u3'), () => 0)).rejects.toMatchObject({
    hint: expect.stringMatching(/^2 pods with hostUsers: false/) as string,
  });
});
