import {existsSync} from 'node:fs';
import {mkdir} from 'node:fs/promises';
import {execFileSync} from 'node:child_process';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {Pod} from '../../../../../../src/api/types/v1-pod.js';
import type {CsiVolumes} from '../../../../../../src/kubelet/contract/volumes/csi-volumes.js';
import {listMountedFlexVolumes} from '../../../../../../src/kubelet/managers/volumes/plugins/flex/flex-paths.js';
import {unmountFlexVolumes} from '../../../../../../src/kubelet/managers/volumes/plugins/flex/unmount-flex.js';
import {removePodDir} from '../../../../../../src/kubelet/managers/volumes/remove-pod-dir.js';
import {mountVolumes} from '../../../../../../src/kubelet/managers/volumes/volume-manager.js';
import {timeBudget} from '../../../../../base/time-budget.js';
import {until} from '../../../../../base/until.js';
import {aPodWith} from '../../volume-fixtures.js';
import {attachingCluster} from '../fake-cluster-volumes.js';
import {aFlexNode, BOX, type FlexNode} from './flex-node.js';
import {ATTACHING_DRIVER} from './flex-scripts.js';

const {signal} = new AbortController();
const NAME = `${BOX}/data`;
const IDENTITY = {driver: BOX, name: 'data'};
const DEVICE = `plugins/kubernetes.io/flexvolume/${BOX}/mounts/data`;

function aFlexPod(uid: string, source: object = {}): Pod {
  const pod = aPodWith([{name: 'data', flexVolume: {driver: BOX, ...source}}]);
  return {...pod, metadata: {...pod.metadata, uid}};
}

async function commands(node: FlexNode): Promise<readonly (string | undefined)[]> {
  return (await node.calls()).map(([command]) => command);
}

test('of pods that end together the last one unmounts the device and detaches it', async () => {
  const node = await aFlexNode(ATTACHING_DRIVER);
  for (const uid of ['u1', 'u2']) await mountVolumes(aFlexPod(uid), node.host, signal);
  await node.calls();
  for (const uid of ['u1', 'u2']) await unmountFlexVolumes(uid, [IDENTITY], node.host);
  expect(await commands(node)).toEqual(['unmount', 'unmountdevice', 'detach']);
  expect(await node.mounts()).toEqual([]);
  for (const uid of ['u1', 'u2']) await node.remove(uid);
  expect(existsSync(join(node.rootDir, 'pods/u1'))).toBe(false);
});

test('each pod of an attached volume waits for its device, as in a kubelet', async () => {
  const node = await aFlexNode(ATTACHING_DRIVER);
  const {csi} = attachingCluster();
  const waits: (string | undefined)[] = [];
  for (const uid of ['u1', 'u2']) {
    await mountVolumes(aFlexPod(uid), {...node.host, csi}, signal);
    const calls = await node.calls();
    waits.push(...calls.filter(([command]) => command === 'waitforattach').map(([, device]) => device));
    expect(calls.filter(([command]) => command === 'mountdevice')).toHaveLength(uid === 'u1' ? 1 : 0);
  }
  // The driver has answered with the second one.
  expect(waits).toEqual(['/dev/disk9', '/dev/null']);
});

test('a device that cannot be unmounted is in use until that has succeeded', async () => {
  const broken = ATTACHING_DRIVER.replace('unmountdevice) umount "$2" && ok', 'unmountdevice) exit 1');
  const node = await aFlexNode(broken);
  const {attachments, csi} = attachingCluster();
  for (const uid of ['u1', 'u2']) await mountVolumes(aFlexPod(uid), {...node.host, csi}, signal);
  const remove = async (uid: string) => {
    await removePodDir(node.host.node, uid, {flex: node.restart().flex, csi});
  };
  await remove('u1');
  await expect(remove('u2')).rejects.toThrow('unmountdevice');
  expect(await node.mounts()).toEqual([DEVICE]);
  expect(attachments.names).toEqual([NAME]);
  await node.install(BOX, ATTACHING_DRIVER);
  await remove('u2');
  expect(await node.mounts()).toEqual([]);
  expect(attachments.names).toEqual([]);
});

test('a pod that starts while the last one ends keeps the device mounted', async () => {
  const node = await aFlexNode(ATTACHING_DRIVER);
  const {attachments, csi} = attachingCluster();
  await mountVolumes(aFlexPod('u1'), {...node.host, csi}, signal);
  await node.calls();
  const secret: CsiVolumes['secret'] = async () => {
    await removePodDir(node.host.node, 'u1', {flex: node.host.flex, csi});
    return {type: BOX, data: {}};
  };
  const starting = aFlexPod('u2', {secretRef: {name: 'top'}});
  await mountVolumes(starting, {...node.host, csi: {...csi, secret}}, signal);
  expect(await commands(node)).not.toContain('unmountdevice');
  expect(await node.mounts()).toContain(DEVICE);
  expect(attachments.names).toEqual([NAME]);
  expect(existsSync(join(node.rootDir, 'pods/u1'))).toBe(false);
});

test('a pod that was killed after the mount for all pods has the device unmounted at its end', async () => {
  const node = await aFlexNode(ATTACHING_DRIVER);
  const dying = new AbortController();
  const {attachments, csi} = attachingCluster();
  const secret: CsiVolumes['secret'] = async () => {
    dying.abort(new Error('killed'));
    throw dying.signal.reason;
  };
  const pod = aFlexPod('u1', {secretRef: {name: 'top'}});
  await expect(mountVolumes(pod, {...node.host, csi: {...csi, secret}}, dying.signal)).rejects.toThrow(
    'killed',
  );
  expect(await node.mounts()).toEqual([DEVICE]);
  await removePodDir(node.host.node, 'u1', {flex: node.restart().flex, csi});
  expect(await node.mounts()).toEqual([]);
  expect(attachments.names).toEqual([]);
});

test('a pod that waits for the controller does not hold up another one', async () => {
  const node = await aFlexNode(ATTACHING_DRIVER);
  const waiting = new AbortController();
  const never = attachingCluster(
    async () =>
      await new Promise((_resolve, reject) => {
        waiting.signal.addEventListener('abort', () => {
          reject(new Error('ended'));
        });
      }),
  );
  const mounting = mountVolumes(aFlexPod('u2'), {...node.host, csi: never.csi}, waiting.signal);
  await until(() => never.attachments.isWaiting('u2', 'data'));
  try {
    // They reject, if they wait for the other pod.
    const {csi} = attachingCluster();
    const signal = AbortSignal.timeout(timeBudget(60_000));
    await mountVolumes(aFlexPod('u1'), {...node.host, csi}, signal);
    await removePodDir(node.host.node, 'u1', {flex: node.host.flex, signal});
    expect(await node.mounts()).toEqual([]);
  } finally {
    waiting.abort(new Error('ended'));
    await expect(mounting).rejects.toThrow('ended');
  }
});

test('a volume without a pod is in use until its device is unmounted', async () => {
  const node = await aFlexNode(ATTACHING_DRIVER);
  const {attachments, changes} = attachingCluster();
  const path = join(node.rootDir, DEVICE);
  await mkdir(path, {recursive: true});
  execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', path]);
  const {node: facts, mounter} = node.host;
  const listMounted = async () => await listMountedFlexVolumes(facts, mounter);
  for (const names of await listMounted()) attachments.keep(names);
  expect(attachments.names).toEqual([NAME]);
  attachments.use(NAME, 'u1');
  await attachments.release('u1', listMounted);
  expect(attachments.names).toEqual([NAME]);
  execFileSync('umount', [path]);
  await attachments.removeUnmounted(async () => {
    attachments.use(NAME, 'u2');
    return await listMounted();
  });
  expect(attachments.names, 'it is used again').toEqual([NAME]);
  await attachments.release('u2', listMounted);
  expect(attachments.names).toEqual([]);
  expect(changes()).toBe(2);
});
