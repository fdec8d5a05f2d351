import {existsSync} from 'node:fs';
import {mkdir, rm, stat, writeFile} from 'node:fs/promises';
import {execFileSync} from 'node:child_process';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import type {PersistentVolumeSpec} from '../../../../../../src/api/types/v1-persistent-volumes.js';
import type {Pod, PodSpec} from '../../../../../../src/api/types/v1-pod.js';
import {systemClock} from '../../../../../../src/base/clock.js';
import {NO_OBJECTS, type ApiObjects} from '../../../../../../src/kubelet/contract/api-objects.js';
import type {EventSink} from '../../../../../../src/kubelet/contract/pod-event.js';
import {MountError} from '../../../../../../src/kubelet/contract/volumes/mount-error.js';
import {listVolumes} from '../../../../../../src/kubelet/managers/volumes/list-volumes.js';
import {listAttachedFlexVolumes} from '../../../../../../src/kubelet/managers/volumes/plugins/flex/flex-paths.js';
import type {VolumeHost} from '../../../../../../src/kubelet/managers/volumes/plugins/volume-plugin.js';
import {
  removePodDir,
  removePodVolumes,
} from '../../../../../../src/kubelet/managers/volumes/remove-pod-dir.js';
import {mountVolumes} from '../../../../../../src/kubelet/managers/volumes/volume-manager.js';
import {VolumeOperations} from '../../../../../../src/kubelet/managers/volumes/volume-operations.js';
import {attachLoopDisk, hasLoopDevices} from '../../../../../base/loop-disk.js';
import {until} from '../../../../../base/until.js';
import {aClaimPod, claims} from '../../claim-fixtures.js';
import {aPodWith} from '../../volume-fixtures.js';
import {aFlexNode, BOX} from './flex-node.js';
import {fakeClusterVolumes} from '../fake-cluster-volumes.js';
import {ATTACHING_DRIVER, GROWING_DRIVER, TMPFS_DRIVER} from './flex-scripts.js';

const {signal} = new AbortController();
const SOURCE = {driver: BOX, fsType: 'ext4', options: {size: '1Mi'}};
const VOLUME = 'volumes/example.com~box/data';
const DEVICE = 'plugins/kubernetes.io/flexvolume/example.com/box/mounts/data';

function aFlexPod(uid = 'u1', spec: Partial<PodSpec> = {}, source: object = {}): Pod {
  const pod = aPodWith([{name: 'data', flexVolume: {...SOURCE, ...source}}], spec);
  return {...pod, metadata: {...pod.metadata, uid}};
}

/** Options that kubelet 1.36.2 gives to each call, as it writes them. */
const OPTIONS =
  '{"kubernetes.io/fsType":"ext4","kubernetes.io/pvOrVolumeName":"data","kubernetes.io/readwrite":"rw","size":"1Mi"}';

/** Options of its call of `mount` for the pod of these tests. */
const MOUNT_OPTIONS =
  '{"kubernetes.io/fsType":"ext4","kubernetes.io/mounterArgs.FsGroup":"1234","kubernetes.io/pod.name":"web","kubernetes.io/pod.namespace":"default","kubernetes.io/pod.uid":"u1","kubernetes.io/pvOrVolumeName":"data","kubernetes.io/readwrite":"rw","kubernetes.io/serviceAccount.name":"","size":"1Mi"}';

/** Calls of kubelet 1.36.2 for a static pod, recorded with a driver like those of these tests. */
const RECORDED = {
  mount: [['init'], ['mount', `ROOT/pods/u1/${VOLUME}`, MOUNT_OPTIONS]],
  restart: [['init']],
  remove: [['unmount', `ROOT/pods/u1/${VOLUME}`]],
  attach: [
    ['init'],
    ['getvolumename', OPTIONS],
    ['attach', OPTIONS, 'node'],
    ['waitforattach', '/dev/null', OPTIONS],
    ['mountdevice', `ROOT/${DEVICE}`, '/dev/null', OPTIONS],
    ['mount', `ROOT/pods/u1/${VOLUME}`, MOUNT_OPTIONS],
  ],
  detach: [
    ['unmount', `ROOT/pods/u1/${VOLUME}`],
    ['unmountdevice', `ROOT/${DEVICE}`],
    ['detach', 'data', 'node'],
  ],
};

// Proves: Volume.flexVolume, FlexVolumeSource.driver, FlexVolumeSource.fsType, FlexVolumeSource.options
test('a driver is called as by a kubelet: to mount, by another process, and to unmount', async () => {
  const node = await aFlexNode(TMPFS_DRIVER);
  const pod = aFlexPod('u1', {securityContext: {fsGroup: 1234}});
  const {volumes} = await mountVolumes(pod, node.host, signal);
  expect(volumes.get('data')).toEqual({hostPath: join(node.rootDir, 'pods/u1', VOLUME), readOnly: false});
  expect(await node.calls()).toEqual(RECORDED.mount);
  const {gid, mode} = await stat(join(node.rootDir, 'pods/u1', VOLUME));
  expect({gid, mode: mode & 0o7777}).toEqual({gid: 1234, mode: 0o3777});
  const host = node.restart();
  await mountVolumes(pod, host, signal);
  expect(await node.calls()).toEqual(RECORDED.restart);
  await node.remove('u1', host.flex);
  expect(await node.calls()).toEqual(RECORDED.remove);
  expect(await node.mounts()).toEqual([]);
  expect(existsSync(join(node.rootDir, 'pods/u1'))).toBe(false);
});

test('a driver that attaches is called as by a kubelet that attaches volumes itself', async () => {
  const node = await aFlexNode(ATTACHING_DRIVER);
  const pod = aFlexPod('u1', {securityContext: {fsGroup: 1234}});
  await mountVolumes(pod, node.host, signal);
  const {nodeName} = node.host.node;
  const named = (calls: readonly (readonly string[])[]) =>
    calls.map((call) => call.map((arg) => (arg === nodeName ? 'node' : arg)));
  expect(named(await node.calls())).toEqual(RECORDED.attach);
  expect((await node.mounts()).toSorted()).toEqual([DEVICE, `pods/u1/${VOLUME}`]);
  await node.remove('u1', node.host.flex);
  expect(named(await node.calls())).toEqual(RECORDED.detach);
  expect(await node.mounts()).toEqual([]);
});

test('a driver is called as by a kubelet that waits for a controller to attach the volume', async () => {
  const node = await aFlexNode(ATTACHING_DRIVER);
  const cluster = fakeClusterVolumes('/dev/disk9');
  const pod = aFlexPod('u1', {securityContext: {fsGroup: 1234}});
  await mountVolumes(pod, {...node.host, csi: cluster.csi}, signal);
  const attached = RECORDED.attach.filter(([command]) => command !== 'attach');
  expect(await node.calls()).toEqual(
    attached.map((call) => (call[0] === 'waitforattach' ? ['waitforattach', '/dev/disk9', OPTIONS] : call)),
  );
  expect(cluster.uses).toEqual(['example.com/box/data u1']);
  expect(await listAttachedFlexVolumes(node.host.node)).toEqual([
    {uniqueName: 'example.com/box/data', podUid: 'u1'},
  ]);
  await removePodDir(node.host.node, 'u1', {flex: node.host.flex, csi: cluster.csi});
  expect(await node.calls()).toEqual(RECORDED.detach.filter(([command]) => command !== 'detach'));
  expect(cluster.uses.slice(1)).toEqual(['released u1']);
  expect(await node.mounts()).toEqual([]);
  expect(await listAttachedFlexVolumes(node.host.node)).toEqual([]);
});

/** Fields of a PersistentVolume of a claim that was enlarged. */
const CLAIMED = {capacity: {storage: '2Gi'}, claimRef: {namespace: 'default', name: 'c'}};
const SIZES = {newSize: '2Gi', oldSize: '1Gi'};

test('a volume that was enlarged is enlarged by its driver, which is called as by a kubelet', async () => {
  const objects = claims({...CLAIMED, flexVolume: SOURCE});
  const node = await aFlexNode(GROWING_DRIVER, objects);
  const cluster = fakeClusterVolumes('', SIZES);
  await mountVolumes(aClaimPod(), {...node.host, csi: cluster.csi}, signal);
  const [, , call] = await node.calls();
  const options = OPTIONS.replace('"data"', '"pv"');
  const path = 'ROOT/pods/u1/volumes/example.com~box/pv';
  expect(call).toEqual(['expandfs', options, '', path, '2147483648', '1073741824']);
  expect(cluster.expanded).toMatchObject([{uniqueName: 'example.com/box/pv'}]);
  const [state] = listVolumes(aClaimPod(), {...node.host, isMounted: () => true});
  expect(state).toMatchObject({plugin: 'example.com/box', isFilesystem: true});
  await node.remove('u1', node.host.flex);
});

test('a volume whose driver leaves it to the node, without a device, cannot be enlarged; one that need not be is not', async () => {
  const objects = claims({...CLAIMED, flexVolume: SOURCE});
  const node = await aFlexNode(TMPFS_DRIVER, objects);
  const {csi} = fakeClusterVolumes('', SIZES);
  expect(await failuresOf(aClaimPod(), {...node.host, csi})).toEqual([
    expect.stringContaining('error checking format for device : it is not a block device'),
  ]);
  await node.install(
    BOX,
    TMPFS_DRIVER.replace('"attach": false', '"attach": false, "requiresFSResize": false'),
  );
  expect(await failuresOf(aClaimPod(), {...node.host, csi})).toEqual([]);
  const [state] = listVolumes(aClaimPod(), {...node.host, isMounted: () => true});
  expect(state).not.toHaveProperty('isFilesystem');
  await node.remove('u1', node.host.flex);
});

/** Mounts the volumes of a pod on a node, and returns the events of what failed. */
async function failuresOf(pod: Pod, host: VolumeHost): Promise<readonly string[]> {
  const messages: string[] = [];
  const events: EventSink = ({message}) => messages.push(message);
  await mountVolumes(pod, {...host, events}, signal).catch((error: unknown) => {
    if (!(error instanceof MountError)) throw error;
  });
  return messages;
}

/** Returns objects with the Secret `top` of a type, and a PersistentVolume for each claim. */
function objectsWith(type: string, spec: Partial<PersistentVolumeSpec> = {}): ApiObjects {
  const secretRef = {name: 'top', namespace: 'other'};
  const volume = {metadata: {name: 'pv'}, spec: {flexVolume: {...SOURCE, secretRef}, ...spec}};
  return {
    ...NO_OBJECTS,
    secret: (namespace, name) =>
      `${namespace}/${name}` === 'other/top'
        ? {apiVersion: 'v1', kind: 'Secret', metadata: {name}, type, data: {key: Buffer.from([0xff, 0x00])}}
        : undefined,
    claimedVolume: () => ({volume, readOnly: true, isOnNode: true}),
  };
}

test('a missing driver is an event that names its file, and is looked for again after ten seconds', async () => {
  const node = await aFlexNode();
  const operations = new VolumeOperations(systemClock);
  const host = {...node.host, operations};
  const [event, ...others] = await failuresOf(aFlexPod(), host);
  expect(others).toEqual([]);
  expect(event).toBe(
    'Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: ' +
      'failed to get Plugin from volumeSpec for volume "data" err=no volume plugin matched: ' +
      `the FlexVolume driver "example.com/box" is not installed: no file ${node.executable(BOX)}`,
  );
  for (const attempt of [1, 2]) {
    const waitMs = (operations.retryAt('data') ?? 0) - systemClock.monotonic();
    expect(waitMs, `after attempt ${attempt}`).toBeGreaterThan(5000);
    expect(waitMs).toBeLessThanOrEqual(10_000);
    await failuresOf(aFlexPod(), host);
  }
  await node.install(BOX, TMPFS_DRIVER);
  await mountVolumes(aFlexPod(), host, signal);
  expect(await node.mounts()).toEqual([`pods/u1/${VOLUME}`]);
});

test('a driver that no directory can have is an event, and mounts nothing', async () => {
  const node = await aFlexNode(TMPFS_DRIVER);
  const pod = aFlexPod('u1', {}, {driver: '../example.com~box'});
  expect(await failuresOf(pod, node.host)).toEqual([
    expect.stringContaining('no FlexVolume driver can have the name "../example.com~box"'),
  ]);
  await node.remove('u1');
  expect(await node.calls()).toEqual([]);
});

// Proves: FlexVolumeSource.secretRef
test('a volume of the spec of a pod has a Secret in the namespace of the pod', async () => {
  const objects = objectsWith(BOX);
  const node = await aFlexNode(TMPFS_DRIVER, {
    ...objects,
    claimedVolume: () => undefined,
    secret: (namespace, name) => (namespace === 'default' ? objects.secret('other', name) : undefined),
  });
  await mountVolumes(aFlexPod('u1', {}, {secretRef: {name: 'top'}}), node.host, signal);
  expect((await node.calls()).at(-1)?.[2]).toContain('"kubernetes.io/secret/key":"/wA="');
});

test('a PersistentVolume is mounted under its name, read-only, with its Secret in base64', async () => {
  const node = await aFlexNode(TMPFS_DRIVER, objectsWith(BOX));
  const {volumes} = await mountVolumes(aClaimPod({serviceAccountName: 'me'}), node.host, signal);
  expect(volumes.get('v')).toMatchObject({readOnly: true, keepsLabels: true});
  const [, [command, path, options = ''] = []] = await node.calls();
  expect([command, path]).toEqual(['mount', 'ROOT/pods/u1/volumes/example.com~box/pv']);
  expect(JSON.parse(options)).toMatchObject({
    'kubernetes.io/pvOrVolumeName': 'pv',
    'kubernetes.io/readwrite': 'ro',
    'kubernetes.io/secret/key': '/wA=',
    'kubernetes.io/serviceAccount.name': 'me',
  });
});

test.each([
  ['other', {}, "couldn't get secret other/top err: cannot get secret of type example.com/box"],
  [BOX, {mountOptions: ['noatime']}, 'Mount options are not supported for this volume type'],
])('a Secret of the type %s, and %j, are errors before the driver mounts', async (type, spec, message) => {
  const node = await aFlexNode(TMPFS_DRIVER, objectsWith(type, spec));
  expect(await failuresOf(aClaimPod(), node.host)).toEqual([expect.stringContaining(message)]);
  expect(await node.calls()).not.toContainEqual(expect.arrayContaining(['mount']));
  expect(existsSync(join(node.rootDir, 'pods/u1/volumes/example.com~box/pv'))).toBe(false);
});

test('a volume with the access mode ReadWriteOncePod is for one pod', async () => {
  const node = await aFlexNode(TMPFS_DRIVER, objectsWith(BOX, {accessModes: ['ReadWriteOncePod']}));
  await mountVolumes(aClaimPod(), node.host, signal);
  const rejection = [expect.stringContaining('already in use by another pod')];
  expect(await failuresOf(aClaimPod({}, 'u2'), node.host)).toEqual(rejection);
  // As for a static pod that starts again with the same UID.
  await removePodVolumes(node.host.node, 'u1', {flex: node.host.flex, signal});
  await mountVolumes(aClaimPod(), node.host, signal);
  expect(await failuresOf(aClaimPod({}, 'u2'), node.host)).toEqual(rejection);
});

// Proves: FlexVolumeSource.readOnly
test('a read-only volume keeps the group of its files', async () => {
  const node = await aFlexNode(TMPFS_DRIVER);
  const pod = aFlexPod('u1', {securityContext: {fsGroup: 1234}}, {readOnly: true});
  const {volumes} = await mountVolumes(pod, node.host, signal);
  expect(volumes.get('data')).toMatchObject({readOnly: true, keepsLabels: true});
  const calls = await node.calls();
  expect(calls.at(-1)?.[2]).toContain('"kubernetes.io/readwrite":"ro"');
  expect((await stat(join(node.rootDir, 'pods/u1', VOLUME))).gid).toBe(0);
});

test('a driver without fsGroup and relabeling keeps groups and labels', async () => {
  const capabilities = '"attach": false, "fsGroup": false, "selinuxRelabel": false';
  const node = await aFlexNode(TMPFS_DRIVER.replace('"attach": false', capabilities));
  const {volumes} = await mountVolumes(aFlexPod('u1', {securityContext: {fsGroup: 1234}}), node.host, signal);
  expect(volumes.get('data')).toMatchObject({readOnly: false, keepsLabels: true});
  expect((await stat(join(node.rootDir, 'pods/u1', VOLUME))).gid).toBe(0);
});

test('a mount that a killed process has not completed is unmounted and made again', async () => {
  const node = await aFlexNode(TMPFS_DRIVER);
  await mountVolumes(aFlexPod(), node.host, signal);
  await node.calls();
  await writeFile(join(node.rootDir, 'pods/u1/plugins/example.com~box/data/mounting'), '');
  await mountVolumes(aFlexPod(), node.restart(), signal);
  expect((await node.calls()).map(([command]) => command)).toEqual(['init', 'unmount', 'mount']);
  expect(await node.mounts()).toEqual([`pods/u1/${VOLUME}`]);
});

test('a volume that a kubelet has mounted is adopted, and unmounted by its driver', async () => {
  const node = await aFlexNode(TMPFS_DRIVER);
  const path = join(node.rootDir, 'pods/u1', VOLUME);
  await mkdir(path, {recursive: true});
  execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', path]);
  await writeFile(join(path, 'file'), 'kept');
  await mountVolumes(aFlexPod('u1', {securityContext: {fsGroup: 1234}}), node.host, signal);
  expect((await stat(join(path, 'file'))).gid).toBe(0);
  await node.remove('u1');
  expect((await node.calls()).map(([command]) => command)).toEqual(['init', 'init', 'unmount']);
  expect(await node.mounts()).toEqual([]);
});

test('without its driver, a mounted volume holds up the removal of its pod until the driver is back', async () => {
  const node = await aFlexNode(TMPFS_DRIVER);
  await mountVolumes(aFlexPod(), node.host, signal);
  await rm(node.executable(BOX));
  await expect(node.remove('u1')).rejects.toThrow(
    `cannot unmount "${node.rootDir}/pods/u1/${VOLUME}": the FlexVolume driver "example.com/box" is not installed`,
  );
  expect(await node.mounts()).toEqual([`pods/u1/${VOLUME}`]);
  await node.install(BOX, TMPFS_DRIVER);
  await node.remove('u1');
  expect(existsSync(join(node.rootDir, 'pods/u1'))).toBe(false);
});

test('without its driver, the directory of a volume that is not mounted is removed', async () => {
  const node = await aFlexNode();
  await mkdir(join(node.rootDir, 'pods/u1', VOLUME), {recursive: true});
  await node.remove('u1');
  expect(existsSync(join(node.rootDir, 'pods/u1'))).toBe(false);
});

test('what a driver only says to have unmounted is never removed', async () => {
  const node = await aFlexNode(TMPFS_DRIVER.replace('umount "$2" && ok', 'ok'));
  await mountVolumes(aFlexPod(), node.host, signal);
  await writeFile(join(node.rootDir, 'pods/u1', VOLUME, 'file'), 'kept');
  await expect(node.remove('u1')).rejects.toThrow(
    'is still mounted after the unmount of its FlexVolume driver',
  );
  expect(existsSync(join(node.rootDir, 'pods/u1', VOLUME, 'file'))).toBe(true);
});

test('the last pod of an attached volume has it unmounted and detached, also after a kill', async () => {
  const node = await aFlexNode(ATTACHING_DRIVER);
  for (const uid of ['u1', 'u2']) await mountVolumes(aFlexPod(uid), node.host, signal);
  const calls = async () => (await node.calls()).map(([command]) => command);
  expect((await calls()).filter((command) => command === 'attach')).toHaveLength(1);
  await node.remove('u1');
  expect(await calls()).toEqual(['init', 'unmount']);
  expect(await node.mounts()).toContain(DEVICE);
  // A process was killed after it has unmounted the device, and before it is detached.
  for (const path of [`pods/u2/${VOLUME}`, DEVICE]) execFileSync('umount', [join(node.rootDir, path)]);
  await node.remove('u2');
  expect(await calls()).toEqual(['init', 'unmount', 'detach']);
  expect(existsSync(join(node.rootDir, DEVICE))).toBe(false);
});

test('a driver that hangs in an unmount ends with the signal, and the removal can be repeated', async () => {
  const hanging = TMPFS_DRIVER.replace('umount "$2" && ok', ': >"$0.hangs"; sleep 3606');
  const node = await aFlexNode(hanging);
  await mountVolumes(aFlexPod(), node.host, signal);
  const controller = new AbortController();
  const removing = removePodDir(node.host.node, 'u1', {flex: node.host.flex, signal: controller.signal});
  const ended = expect(removing).rejects.toThrow('interrupted');
  await until(() => existsSync(`${node.executable(BOX)}.hangs`));
  controller.abort(new Error('interrupted'));
  await ended;
  await node.install(BOX, TMPFS_DRIVER);
  await node.remove('u1');
  expect(await node.mounts()).toEqual([]);
});

describe.skipIf(!hasLoopDevices)('a device that the driver leaves to the node', () => {
  test('is formatted, mounted once and bound, and unmounted with the last pod', async () => {
    const disk = await attachLoopDisk(32);
    onTestFinished(async () => {
      await disk[Symbol.asyncDispose]();
    });
    const script = ATTACHING_DRIVER.replace('/dev/null', disk.device).replace(/mountdevice.*/, '');
    const node = await aFlexNode(script.replace(/unmountdevice.*/, ''));
    await mountVolumes(aFlexPod('u1'), node.host, signal);
    await writeFile(join(node.rootDir, 'pods/u1', VOLUME, 'file'), 'kept');
    await mountVolumes(aFlexPod('u2'), node.host, signal);
    expect(existsSync(join(node.rootDir, 'pods/u2', VOLUME, 'file'))).toBe(true);
    await node.remove('u1');
    expect((await node.mounts()).toSorted()).toEqual([DEVICE, `pods/u2/${VOLUME}`]);
    await node.remove('u2');
    expect(await node.mounts()).toEqual([]);
  });
});

test('what a driver calls a device must be a block device', async () => {
  const node = await aFlexNode(ATTACHING_DRIVER.replace(/mountdevice.*/, ''));
  expect(await failuresOf(aFlexPod(), node.host)).toEqual([
    'MountVolume.MountDevice failed for volume "data" : "/dev/null" is not a block device',
  ]);
  await node.remove('u1');
  expect((await node.calls()).at(-1)?.[0]).toBe('detach');
});
