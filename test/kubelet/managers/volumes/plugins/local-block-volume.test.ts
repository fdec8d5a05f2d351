import {execFileSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {mkdir, readdir, readlink, realpath, stat, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import type {PersistentVolumeSpec} from '../../../../../src/api/types/v1-persistent-volumes.js';
import {usedVolumes} from '../../../../../src/api/used-volumes.js';
import type {PodEvent} from '../../../../../src/kubelet/contract/pod-event.js';
import {MapError, type MountError} from '../../../../../src/kubelet/contract/volumes/mount-error.js';
import {listVolumes} from '../../../../../src/kubelet/managers/volumes/list-volumes.js';
import type {VolumeHost} from '../../../../../src/kubelet/managers/volumes/plugins/volume-plugin.js';
import {removePodDir, removePodVolumes} from '../../../../../src/kubelet/managers/volumes/remove-pod-dir.js';
import {mountVolumes} from '../../../../../src/kubelet/managers/volumes/volume-manager.js';
import {attachLoopDisk, deviceMounts, hasLoopDevices, loopFiles} from '../../../../base/loop-disk.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';
import {aDevicePod, aNode, claims} from '../claim-fixtures.js';
import {aHost} from '../volume-fixtures.js';

const {signal} = new AbortController();
const DISK_MIB = 1;
const GLOBAL = 'plugins/kubernetes.io~local-volume/volumeDevices';
const LINK = 'volumeDevices/kubernetes.io~local-volume/pv';

function blockSpec(path: string, more: Partial<PersistentVolumeSpec> = {}): PersistentVolumeSpec {
  return {volumeMode: 'Block', local: {path}, ...more};
}

interface BlockNode {
  readonly device: string;
  readonly rootDir: string;
  readonly host: VolumeHost;
  readonly events: readonly PodEvent[];
}

/** Creates a node with a disk, at the end of a link. */
async function aBlockNode(more: Partial<PersistentVolumeSpec> = {}, readOnly = false): Promise<BlockNode> {
  const disk = await attachLoopDisk(DISK_MIB);
  onTestFinished(async () => {
    await disk[Symbol.asyncDispose]();
  });
  const node = await aNode();
  const directory = await temporaryDirectory();
  const link = join(directory, 'by-id');
  await symlink(disk.device, link);
  await mkdir(node.rootDir);
  const events: PodEvent[] = [];
  const host = {
    ...aHost(node, claims(blockSpec(link, more), readOnly)),
    events: (event: PodEvent) => events.push(event),
  };
  return {device: disk.device, rootDir: await realpath(node.rootDir), host, events};
}

describe.skipIf(!hasLoopDevices)('on a loop device (needs root)', () => {
  test('the device of a volume is mapped as by a kubelet, and its maps are removed with the pod', async () => {
    const {device, rootDir, host, events} = await aBlockNode();
    const {volumes} = await mountVolumes(aDevicePod(), host, signal);
    const link = join(host.node.rootDir, 'pods/u1', LINK);
    expect(volumes.get('v')).toEqual({hostPath: link, readOnly: false});
    expect(await readlink(link)).toBe(device);
    const global = join(rootDir, GLOBAL, 'pv/u1');
    const [mapped, original] = [await stat(global), await stat(device)];
    expect(mapped.isBlockDevice() && mapped.rdev === original.rdev).toBe(true);
    expect(await loopFiles(rootDir)).toEqual([global]);
    expect(events.map(({type, reason, message}) => [type, reason, message])).toEqual([
      [
        'Normal',
        'SuccessfulMountVolume',
        `MapVolume.MapPodDevice succeeded for volume "pv" globalMapPath "${join(host.node.rootDir, GLOBAL, 'pv')}"`,
      ],
      [
        'Normal',
        'SuccessfulMountVolume',
        `MapVolume.MapPodDevice succeeded for volume "pv" volumeMapPath "${join(link, '..')}"`,
      ],
    ]);

    await removePodVolumes(host.node, 'u1');
    expect(await loopFiles(rootDir)).toEqual([]);
    expect(await readdir(join(rootDir, GLOBAL))).toEqual([]);
    expect(existsSync(join(rootDir, 'pods/u1/volumeDevices'))).toBe(false);
    expect(await deviceMounts(device)).toEqual([]);
  });

  test('a volume is mapped again after a kill, and its other pods keep their maps', async () => {
    const {rootDir, host} = await aBlockNode();
    for (const uid of ['u1', 'u2', 'u1']) await mountVolumes(aDevicePod(uid), host, signal);
    const global = join(rootDir, GLOBAL, 'pv');
    expect((await loopFiles(rootDir)).toSorted()).toEqual([join(global, 'u1'), join(global, 'u2')]);
    await removePodDir(host.node, 'u1');
    expect(await readdir(global)).toEqual(['u2']);
    expect(await loopFiles(rootDir)).toEqual([join(global, 'u2')]);
    await removePodDir(host.node, 'u2');
    expect(existsSync(global)).toBe(false);
  });

  test('a map that a killed process has left half done is completed and removed', async () => {
    const {device, rootDir, host} = await aBlockNode();
    const global = join(rootDir, GLOBAL, 'pv');
    await mkdir(join(rootDir, 'pods/u1', LINK, '..'), {recursive: true});
    await symlink('/dev/null', join(rootDir, 'pods/u1', LINK));
    await mkdir(global, {recursive: true});
    await writeFile(join(global, 'u1'), '');
    execFileSync('mount', ['--bind', '/dev/null', join(global, 'u1')]);
    await mountVolumes(aDevicePod(), host, signal);
    expect((await stat(join(global, 'u1'))).rdev).toBe((await stat(device)).rdev);
    expect(await readlink(join(rootDir, 'pods/u1', LINK))).toBe(device);
    await removePodDir(host.node, 'u1');
    expect(existsSync(global)).toBe(false);
  });

  test('a volume for one pod is not mapped for another one', async () => {
    const {host} = await aBlockNode({accessModes: ['ReadWriteOncePod']});
    await mountVolumes(aDevicePod('u1'), host, signal);
    await expect(mountVolumes(aDevicePod('u2'), host, signal)).rejects.toThrow(
      'MapVolume.SetUpDevice failed for volume "pv" : volume uses the ReadWriteOncePod access mode and is already in use by another pod',
    );
    await removePodDir(host.node, 'u1');
    await removePodDir(host.node, 'u2');
  });

  test('a read-only volume is listed as mounted, with the size of its device', async () => {
    const {host} = await aBlockNode({}, true);
    const {volumes} = await mountVolumes(aDevicePod(), host, signal);
    expect(volumes.get('v')?.readOnly).toBe(true);
    const [state] = listVolumes(aDevicePod(), {...host, isMounted: (name) => volumes.has(name)});
    expect(state).toMatchObject({
      name: 'v',
      plugin: 'kubernetes.io/local-volume',
      claim: 'c',
      isMounted: true,
    });
    expect(await state?.measure?.()).toEqual({
      ...{usedBytes: 0n, availableBytes: 0n, capacityBytes: BigInt(DISK_MIB) * 1024n * 1024n},
      ...{inodesUsed: 0n, inodesFree: 0n, inodes: 0n},
    });
    await removePodDir(host.node, 'u1');
  });
});

/** Mounts the device of a pod, and returns the failure. */
async function mapFailure(spec: PersistentVolumeSpec): Promise<MountError> {
  const mounting = mountVolumes(aDevicePod(), aHost(await aNode(), claims(spec)), signal);
  return await mounting.then(
    () => expect.unreachable('it was mapped'),
    (error: unknown) => error as MountError,
  );
}

test.each<[string, PersistentVolumeSpec, string]>([
  [
    'is a directory',
    blockSpec('/tmp'),
    'MapVolume.MapBlockVolume failed for volume "pv" : "/tmp" is not a block device',
  ],
  ['does not exist', blockSpec('/none'), 'MapVolume.EvalHostSymlinks failed for volume "pv" : '],
])('a device that %s cannot be mapped', async (_title, spec, message) => {
  const {failures} = await mapFailure(spec);
  expect(failures[0]).toBeInstanceOf(MapError);
  expect(failures[0].message).toContain(message);
});

test('a volume of another kind has no block device', async () => {
  const {failures} = await mapFailure({volumeMode: 'Block', hostPath: {path: '/dev/null'}});
  expect(failures[0].message).toContain(
    'MapVolume.FindMapperPluginBySpec failed to find BlockVolumeMapper plugin',
  );
});

test('a claim without a PersistentVolume is no block device', async () => {
  const mounting = mountVolumes(aDevicePod(), aHost(await aNode()), signal);
  await expect(mounting).rejects.toThrow('volume v is specified in volumeDevices, but has no block device');
});

test('volumes that are devices of containers are used by the pod', () => {
  expect(usedVolumes(aDevicePod()).map(({name}) => name)).toEqual(['v']);
});
