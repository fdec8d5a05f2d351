import {mkdir, open, readFile, rmdir} from 'node:fs/promises';
import {join} from 'node:path';
import {afterEach, expect, test, vi} from 'vitest';
import {podUid} from '../../../../src/cri/index.js';
import type {PodAllocation} from '../../../../src/kubelet/contract/resources/actuated-resources.js';
import {
  ActuatedResourcesStore,
  createCheckpointStore,
} from '../../../../src/kubelet/pods/allocation/actuated-resources-store.js';
import {
  CheckpointedResources,
  podResourceCheckpointPath,
} from '../../../../src/kubelet/pods/allocation/checkpointed-resources.js';
import {parsePodResourceCheckpoint} from '../../../../src/kubelet/pods/allocation/pod-resource-checkpoint.js';
import {fakeLogger} from '../../../base/fake-logger.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';

const allocationOf = (cpu: string): PodAllocation => ({
  pod: undefined,
  containers: new Map([['main', {requests: {cpu}}]]),
});

async function createFixture() {
  const rootDir = await temporaryDirectory();
  const path = podResourceCheckpointPath(rootDir, 'actuated');
  const errors: string[] = [];
  const logger = fakeLogger({info: () => undefined, error: (_error, message) => void errors.push(message)});
  const load = async (): Promise<CheckpointedResources> => {
    const resources = new CheckpointedResources(path, logger);
    await resources.load();
    return resources;
  };
  const uids = async (): Promise<readonly string[]> => [
    ...parsePodResourceCheckpoint(await readFile(path, 'utf8'))!.keys(),
  ];
  return {rootDir, path, errors, load, uids};
}

/** Counts the writes and fsyncs of files of this process from now on. */
async function countWrites(): Promise<() => readonly [number, number]> {
  await using file = await open('/dev/null');
  const prototype = Object.getPrototypeOf(file) as typeof file;
  const [writes, syncs] = [vi.spyOn(prototype, 'writeFile'), vi.spyOn(prototype, 'sync')];
  return () => [writes.mock.calls.length, syncs.mock.calls.length];
}

afterEach(() => {
  vi.restoreAllMocks();
});

test('100 pods that start at once share two writes, each of which waits for the disk once', async () => {
  const {load, uids} = await createFixture();
  const resources = await load();
  const count = await countWrites();
  const store = createCheckpointStore(resources);
  const all = Array.from({length: 100}, (_, index) => podUid(`uid-${index}`));
  await Promise.all(all.map(async (uid) => store.write(uid, allocationOf('1'))));
  const [writes, syncs] = count();
  expect(writes).toBeLessThanOrEqual(2);
  expect(syncs).toBe(writes);
  expect(await uids()).toEqual(all.toSorted());
});

test('what is the same on the disk is not written', async () => {
  const {load} = await createFixture();
  await (await load()).set(podUid('a'), allocationOf('1')).written();
  const count = await countWrites();
  const resources = await load();
  await resources.set(podUid('a'), allocationOf('1000m')).written();
  expect(count()).toEqual([0, 0]);
  expect(resources.get(podUid('a'))).toEqual(allocationOf('1000m'));
});

test('a removed pod leaves the file with the next change', async () => {
  const {load, uids} = await createFixture();
  const resources = await load();
  for (const uid of ['a', 'b']) await resources.set(podUid(uid), allocationOf('1')).written();
  resources.delete(podUid('a'));
  expect(await uids()).toEqual(['a', 'b']);
  await resources.set(podUid('c'), allocationOf('1')).written();
  expect(await uids()).toEqual(['b', 'c']);
});

test('a failed write is reported, and the next one writes everything', async () => {
  const {load, path, errors, uids} = await createFixture();
  const resources = await load();
  await mkdir(path);
  await resources.set(podUid('a'), allocationOf('1')).written();
  expect(errors).toEqual(['Failed to save pod resource information checkpoint']);
  await rmdir(path);
  await resources.set(podUid('b'), allocationOf('1')).written();
  expect(await uids()).toEqual(['a', 'b']);
});

test("another process reads the resources of the daemon's pods, and stores those of its own", async () => {
  const {rootDir, load, uids} = await createFixture();
  await (await load()).set(podUid('daemon'), allocationOf('1')).written();
  const store = new ActuatedResourcesStore(rootDir);
  await store.write(podUid('sync'), allocationOf('2'));
  expect(await store.read(podUid('daemon'))).toEqual(allocationOf('1'));
  expect(await store.read(podUid('sync'))).toEqual(allocationOf('2'));
  expect(await uids()).toEqual(['daemon']);
  expect(podResourceCheckpointPath(rootDir, 'allocated')).toBe(join(rootDir, 'allocated_pods_state'));
});
