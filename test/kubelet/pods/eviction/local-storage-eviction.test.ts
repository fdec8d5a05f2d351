import {rm, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import {systemClock} from '../../../../src/base/clock.js';
import {podLogsDirectory} from '../../../../src/kubelet/contract/node-facts.js';
import {podRef} from '../../../../src/kubelet/contract/pod-ref.js';
import type {PodFilesystem} from '../../../../src/kubelet/contract/pod-filesystem.js';
import {LocalStorageEviction} from '../../../../src/kubelet/pods/eviction/local-storage-eviction.js';
import {BUSYBOX} from '../../../fakes/fake-runtime.js';
import {syncOnePod} from '../../foreground/sync-one-pod.js';
import {aLocalPod, startRegistryTestbed, type RegistryTestbed} from '../registry-testbed.js';
import {syncOnce} from '../sync-once.js';

const MESSAGE = 'Usage of EmptyDir volume "data" exceeds the limit "1Mi". ';

function aPodWithLimit(fields: object = {}, emptyDir: object = {sizeLimit: '1024Ki'}): Pod {
  const volumeMounts = [{name: 'data', mountPath: '/data'}];
  const containers = [{name: 'main', image: BUSYBOX, command: ['sleep', '1'], volumeMounts}];
  return aLocalPod({containers, volumes: [{name: 'data', emptyDir}], ...fields});
}

function volumesOf({node}: RegistryTestbed, pod: Pod): string {
  return join(node.rootDir, 'pods', pod.metadata.uid!, 'volumes/kubernetes.io~empty-dir');
}

/** Starts the pod and writes a file of this size to its volume. */
async function runAndFill(testbed: RegistryTestbed, pod: Pod, bytes: number): Promise<void> {
  await syncOnce(testbed.pods.createSyncer(pod));
  await writeFile(join(volumesOf(testbed, pod), 'data/file'), Buffer.alloc(bytes, 1));
}

// Proves: EmptyDirVolumeSource.sizeLimit
test("a pod whose emptyDir exceeds its sizeLimit is evicted with the kubelet's message and is not restarted", async () => {
  const testbed = await startRegistryTestbed();
  const pod = aPodWithLimit();
  await syncOnePod(testbed, pod);
  await writeFile(join(volumesOf(testbed, pod), 'data/file'), Buffer.alloc(2 * 1024 * 1024, 1));

  const evicted = await syncOnePod(testbed, pod, {wait: 'complete'});
  const later = await syncOnePod(testbed, pod);

  for (const result of [evicted, later])
    expect(result).toMatchObject({kind: 'complete', problem: `Evicted: ${MESSAGE.trim()}`});
  expect(testbed.events.filter(({type}) => type === 'Warning')).toMatchObject([
    {reason: 'Evicted', message: MESSAGE, pod: {metadata: {uid: pod.metadata.uid}}},
  ]);
  expect(testbed.runtime.containers.filter(({state}) => state === 'CONTAINER_RUNNING')).toEqual([]);
  expect(testbed.runtime.callsTo('CreateContainer')).toHaveLength(1);
});

test('a pod whose logs exceed its limit of ephemeral storage is evicted', async () => {
  const testbed = await startRegistryTestbed();
  const resources = {limits: {'ephemeral-storage': '1Mi'}};
  const pod = aLocalPod({containers: [{name: 'main', image: BUSYBOX, command: ['sleep', '1'], resources}]});
  await syncOnce(testbed.pods.createSyncer(pod));
  const directory = podLogsDirectory(testbed.node, podRef(pod));
  expect(await testbed.pods.createSyncer(pod).findEviction()).toBeUndefined();
  await writeFile(join(directory, 'main/0.log'), Buffer.alloc(2 * 1024 * 1024, 1));
  const message = 'Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. ';
  expect(await testbed.pods.createSyncer(pod).findEviction()).toEqual({
    signal: 'ephemeralpodfs.limit',
    status: {phase: 'Failed', reason: 'Evicted', message},
  });
});

test('a pod whose container writes more than its limit of ephemeral storage is evicted', async () => {
  const testbed = await startRegistryTestbed();
  const resources = {limits: {'ephemeral-storage': '1Ki'}};
  const pod = aLocalPod({containers: [{name: 'main', image: BUSYBOX, command: ['sleep', '1'], resources}]});
  await syncOnce(testbed.pods.createSyncer(pod));
  expect(await testbed.pods.createSyncer(pod).findEviction()).toMatchObject({signal: 'ephemeralpodfs.limit'});
});

test.each<[string, Pod, number]>([
  ['a volume within its sizeLimit', aPodWithLimit(), 512 * 1024],
  ['a volume without a sizeLimit', aPodWithLimit({}, {}), 2 * 1024 * 1024],
  ['a sizeLimit of 0, which means no limit,', aPodWithLimit({}, {sizeLimit: '0'}), 2 * 1024 * 1024],
  ['a critical pod', aPodWithLimit({priority: 2_000_000_000}), 2 * 1024 * 1024],
])('%s does not cause an eviction', async (_title, pod, bytes) => {
  const testbed = await startRegistryTestbed();
  await runAndFill(testbed, pod, bytes);
  expect(await testbed.pods.createSyncer(pod).findEviction()).toBeUndefined();
});

test('limits are not enforced on a node that does not isolate local storage', async () => {
  const {connection: services, node} = await startRegistryTestbed();
  const check = async (ephemeralStorageBytes: bigint): Promise<unknown> => {
    const context = {services, clock: systemClock, node: {...node, ephemeralStorageBytes}};
    const exceededVolume = async () => await Promise.resolve({name: 'data', sizeLimit: '1Mi'});
    const files = {exceededVolume} as unknown as PodFilesystem;
    return await new LocalStorageEviction({...context, files, events: () => undefined}).check(
      aPodWithLimit(),
    );
  };
  expect(await check(1n)).toMatchObject({signal: 'emptydirfs.limit'});
  expect(await check(0n)).toBeUndefined();
});

test('a volume that cannot be measured does not cause an eviction', async () => {
  const testbed = await startRegistryTestbed();
  const pod = aPodWithLimit();
  await syncOnce(testbed.pods.createSyncer(pod));
  await rm(join(volumesOf(testbed, pod), 'data'), {recursive: true});
  await symlink('/', join(volumesOf(testbed, pod), 'data'));
  expect(await testbed.pods.createSyncer(pod).findEviction()).toBeUndefined();
});

test('volumes are measured at most every ten seconds', async () => {
  let measured = 0;
  const {pods} = await startRegistryTestbed({}, (real) =>
    Object.assign(real, {
      exceededVolume: async () => {
        measured++;
      },
    }),
  );
  const syncer = pods.createSyncer(aPodWithLimit());
  for (let check = 0; check < 4; check++) await syncer.findEviction();
  expect(measured).toBe(1);
});
