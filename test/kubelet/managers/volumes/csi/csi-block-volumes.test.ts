import {existsSync} from 'node:fs';
import {mkdir, readdir, readFile, realpath, readlink, stat, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import type {PersistentVolumeSpec} from '../../../../../src/api/types/v1-persistent-volumes.js';
import type {Pod} from '../../../../../src/api/types/v1-pod.js';
import {systemClock} from '../../../../../src/base/clock.js';
import {CsiDriverClient} from '../../../../../src/kubelet/managers/volumes/csi/csi-driver-client.js';
import {NO_METRICS, type KubeletMetrics} from '../../../../../src/kubelet/contract/kubelet-metrics.js';
import {createOnDemandCsiManager} from '../../../../../src/kubelet/managers/volumes/csi/csi-node-manager.js';
import {nodeExpand} from '../../../../../src/kubelet/managers/volumes/csi/expand/node-expand.js';
import {startCsi} from '../../../../../src/kubelet/managers/volumes/csi/start-csi.js';
import {ProvisionedClaims} from '../../../../../src/kubelet/managers/volumes/provisioning/provisioned-claims.js';
import {listVolumes} from '../../../../../src/kubelet/managers/volumes/list-volumes.js';
import {removePodDir} from '../../../../../src/kubelet/managers/volumes/remove-pod-dir.js';
import {mountVolumes} from '../../../../../src/kubelet/managers/volumes/volume-manager.js';
import {attachLoopDisk, hasLoopDevices, loopFiles} from '../../../../base/loop-disk.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';
import {until} from '../../../../base/until.js';
import {fakeManagerServices} from '../../../../fakes/fake-manager-services.js';
import {
  CSI_DRIVER,
  FakeCsiDriver,
  type FakeCsiDriverOptions,
} from '../../../../fakes/plugins/fake-csi-driver.js';
import {GOLDEN_NODE} from '../../../../golden/golden-cases.js';
import {aDevicePod, aNode, claims} from '../claim-fixtures.js';
import {aHost} from '../volume-fixtures.js';

const {signal} = new AbortController();
const SPEC: PersistentVolumeSpec = {
  volumeMode: 'Block',
  accessModes: ['ReadWriteOnce'],
  csi: {driver: CSI_DRIVER, volumeHandle: 'h'},
};
const BLOCKS = 'plugins/kubernetes.io/csi/volumeDevices';

/** Starts a node with a driver of block volumes; `start` starts the CSI part of a kubelet, as after a restart. */
async function aBlockNode(options: Partial<FakeCsiDriverOptions> = {}, spec = SPEC, registry?: string) {
  const facts = await aNode();
  await mkdir(facts.rootDir);
  const rootDir = await realpath(facts.rootDir);
  const path = join(await temporaryDirectory(), 'csi.sock');
  const registration = registry === undefined ? {} : {registration: join(rootDir, registry, 'disk.sock')};
  const driver = await FakeCsiDriver.start({path, ...registration, ...options});
  const end = new AbortController();
  onTestFinished(async () => {
    end.abort();
    await driver[Symbol.asyncDispose]();
  });
  const node = {...GOLDEN_NODE, ...facts, rootDir};
  const operations: string[] = [];
  const metrics: KubeletMetrics = {
    ...NO_METRICS,
    volumeOperated: ({plugin, operation, isSuccessful}) =>
      operations.push(`${plugin} ${operation} ${isSuccessful}`),
  };
  const start = async () => {
    const {drivers, volumes: csi} = await startCsi(
      {...fakeManagerServices({node, clock: systemClock}), metrics},
      end.signal,
    );
    await drivers.register({name: CSI_DRIVER, endpoint: path, versions: ['1.0.0']}, signal);
    const host = {...aHost(node, claims(spec)), csi};
    return {csi, mount: async (pod: Pod) => await mountVolumes(pod, host, signal)};
  };
  return {node, rootDir, driver, operations, start, socket: path, blocks: join(rootDir, BLOCKS)};
}

async function aDisk(): Promise<string> {
  const disk = await attachLoopDisk(1);
  onTestFinished(async () => {
    await disk[Symbol.asyncDispose]();
  });
  return disk.device;
}

describe.skipIf(!hasLoopDevices)('on a loop device (needs root)', () => {
  test('a block volume is staged, published and mapped as by a kubelet, and nothing is left of it', async () => {
    const device = await aDisk();
    const {node, rootDir, driver, operations, start, blocks} = await aBlockNode({device});
    const {csi, mount} = await start();
    const {volumes} = await mount(aDevicePod());
    const target = join(blocks, 'publish/pv/u1');
    const link = join(rootDir, 'pods/u1/volumeDevices/kubernetes.io~csi/pv');
    expect(volumes.get('v')).toEqual({hostPath: link, readOnly: false});
    expect(await readlink(link)).toBe(target);
    expect((await stat(join(blocks, 'pv/dev/u1'))).rdev).toBe((await stat(device)).rdev);
    expect(await loopFiles(rootDir)).toEqual([join(blocks, 'pv/dev/u1')]);
    expect(JSON.parse(await readFile(join(blocks, 'pv/data/vol_data.json'), 'utf8'))).toEqual({
      attachmentID: expect.stringMatching(/^csi-[0-9a-f]{64}$/) as string,
      ...{driverName: CSI_DRIVER, nodeName: node.nodeName, specVolID: 'pv', volumeHandle: 'h'},
    });
    expect(driver.callsTo('NodeStageVolume')).toMatchObject([
      {staging_target_path: join(blocks, 'staging/pv'), volume_capability: {block: {}}},
    ]);
    expect(driver.callsTo('NodePublishVolume')).toMatchObject([
      {target_path: target, staging_target_path: join(blocks, 'staging/pv'), volume_capability: {block: {}}},
    ]);

    await removePodDir(node, 'u1', {csi});
    await until(() => driver.callsTo('NodeUnstageVolume').length > 0);
    await until(async () => (await readdir(blocks)).toSorted().join() === 'publish,staging');
    expect([
      ...(await readdir(join(blocks, 'publish'))),
      ...(await readdir(join(blocks, 'staging'))),
    ]).toEqual([]);
    expect(await loopFiles(rootDir)).toEqual([]);
    expect(existsSync(join(rootDir, 'pods/u1'))).toBe(false);
    const plugin = `kubernetes.io/csi:${CSI_DRIVER}`;
    await until(() => operations.length > 1);
    expect(operations).toEqual([`${plugin} unmap_volume true`, `${plugin} unmap_device true`]);
  });

  test('a volume is unstaged after its last pod, also by a kubelet that has found it on the disk', async () => {
    const {node, driver, start, blocks} = await aBlockNode({device: await aDisk()});
    const {mount} = await start();
    await mount(aDevicePod('u1'));
    await mount(aDevicePod('u2'));
    expect(driver.callsTo('NodeStageVolume')).toHaveLength(1);
    const {csi} = await start();
    await removePodDir(node, 'u1', {csi});
    expect(await readdir(join(blocks, 'pv/dev'))).toEqual(['u2']);
    expect(driver.callsTo('NodeUnstageVolume')).toEqual([]);
    await removePodDir(node, 'u2', {csi});
    await until(() => !existsSync(join(blocks, 'pv')));
    expect(driver.callsTo('NodeUnstageVolume')).toMatchObject([{volume_id: 'h'}]);
  });

  test('a volume that is being unstaged when another pod needs it is staged again, and nothing is left of it', async () => {
    let unstage: () => void = () => undefined;
    const isHeld = new Promise<object>((resolve) => {
      unstage = () => {
        resolve({});
      };
    });
    const answers = {NodeUnstageVolume: async () => await isHeld};
    const {node, driver, start, blocks} = await aBlockNode({device: await aDisk(), answers});
    const {csi, mount} = await start();
    await mount(aDevicePod('u1'));
    await removePodDir(node, 'u1', {csi});
    await until(() => driver.callsTo('NodeUnstageVolume').length > 0);
    const mounting = vi.spyOn(csi, 'mount');
    const isDone = mount(aDevicePod('u2'));
    // Without a cluster, the mount comes to the volume in the same turn.
    await until(() => mounting.mock.calls.length > 0);
    unstage();
    await isDone;
    expect(existsSync(join(blocks, 'pv/data/vol_data.json'))).toBe(true);
    await removePodDir(node, 'u2', {csi});
    await until(() => !existsSync(join(blocks, 'pv')));
    expect(driver.changes).toEqual(
      Array.from({length: 2}, () => [
        ...['NodeStageVolume', 'NodePublishVolume', 'NodeUnpublishVolume', 'NodeUnstageVolume'],
      ]).flat(),
    );
  });

  test('the driver measures a block volume at its map for the pod', async () => {
    const device = await aDisk();
    const {node, driver, start, blocks} = await aBlockNode({
      ...{device, capabilities: ['STAGE_UNSTAGE_VOLUME', 'GET_VOLUME_STATS']},
    });
    const {csi, mount} = await start();
    await mount(aDevicePod());
    const [state] = listVolumes(aDevicePod(), {node, csi, objects: claims(SPEC), isMounted: () => true});
    expect(await state?.measure?.()).toMatchObject({capacityBytes: 100n});
    expect(driver.callsTo('NodeGetVolumeStats')).toMatchObject([{volume_path: join(blocks, 'pv/dev/u1')}]);
    await removePodDir(node, 'u1', {csi});
  });

  test('a command finds the driver of a block volume, and leaves nothing of the volume', async () => {
    const device = await aDisk();
    const capabilities = ['STAGE_UNSTAGE_VOLUME', 'GET_VOLUME_STATS'];
    const {node, rootDir, driver, blocks} = await aBlockNode(
      {device, capabilities},
      SPEC,
      'plugins_registry',
    );
    const {csiVolumes: csi} = createOnDemandCsiManager({
      ...{node, clock: systemClock, objects: claims(SPEC)},
      claims: new ProvisionedClaims(node.rootDir),
    });
    await mountVolumes(aDevicePod(), {...aHost(node, claims(SPEC)), csi}, signal);
    expect(await loopFiles(rootDir)).toEqual([join(blocks, 'pv/dev/u1')]);
    const [state] = listVolumes(aDevicePod(), {node, csi, objects: claims(SPEC), isMounted: () => true});
    expect(await state?.measure?.()).toMatchObject({capacityBytes: 100n});
    await removePodDir(node, 'u1', {csi});
    expect(driver.changes).toEqual([
      ...['NodeStageVolume', 'NodePublishVolume', 'NodeUnpublishVolume', 'NodeUnstageVolume'],
    ]);
    expect((await readdir(blocks)).toSorted()).toEqual(['publish', 'staging']);
    expect(await loopFiles(rootDir)).toEqual([]);
  });

  test('without its driver, a pod with a block volume is not removed', async () => {
    const {node, start} = await aBlockNode({device: await aDisk()});
    const {csi, mount} = await start();
    await mount(aDevicePod());
    await expect(removePodDir(node, 'u1')).rejects.toThrow('is registered with no kubelet');
    await removePodDir(node, 'u1', {csi});
  });
});

test('what a process that was killed has left before the driver published the volume is cleaned up', async () => {
  const {node, rootDir, driver, start, blocks} = await aBlockNode();
  const data = {driverName: CSI_DRIVER, volumeHandle: 'h', specVolID: 'pv'};
  await mkdir(join(blocks, 'pv/data'), {recursive: true});
  await writeFile(join(blocks, 'pv/data/vol_data.json'), JSON.stringify(data));
  await mkdir(join(blocks, 'staging/pv'), {recursive: true});
  const links = join(rootDir, 'pods/u1/volumeDevices/kubernetes.io~csi');
  await mkdir(links, {recursive: true});
  await symlink(join(blocks, 'publish/pv/u1'), join(links, 'pv'));
  const {csi} = await start();
  await removePodDir(node, 'u1', {csi});
  await until(() => !existsSync(join(blocks, 'pv')));
  expect(driver.changes).toEqual(['NodeUnpublishVolume', 'NodeUnstageVolume']);
});

test('a staged volume without a pod is unstaged by the next process', async () => {
  const {driver, start, blocks} = await aBlockNode();
  const data = {driverName: CSI_DRIVER, volumeHandle: 'h', specVolID: 'pv'};
  await mkdir(join(blocks, 'pv/data'), {recursive: true});
  await writeFile(join(blocks, 'pv/data/vol_data.json'), JSON.stringify(data));
  await mkdir(join(blocks, 'staging/pv'), {recursive: true});
  await start();
  await until(() => !existsSync(join(blocks, 'pv')));
  expect(driver.changes).toEqual(['NodeUnstageVolume']);
});

test('a driver that makes no device is reported', async () => {
  const {node, start} = await aBlockNode();
  const {csi, mount} = await start();
  await expect(mount(aDevicePod())).rejects.toThrow(
    'MapVolume.MapBlockVolume failed for volume "pv" : the CSI driver has not made the block device',
  );
  await removePodDir(node, 'u1', {csi});
});

test('after a final error of staging or publishing, nothing of the volume is left for the pod', async () => {
  const {rootDir, driver, start, blocks} = await aBlockNode();
  const {mount} = await start();
  driver.fail('NodeStageVolume', 'INTERNAL', 'no disk');
  await expect(mount(aDevicePod())).rejects.toThrow(
    'MapVolume.SetUpDevice failed for volume "pv" : rpc error: code = Internal desc = no disk',
  );
  expect(existsSync(join(blocks, 'pv'))).toBe(false);
  driver.fail('NodePublishVolume', 'INTERNAL', 'no path');
  await expect(mount(aDevicePod())).rejects.toThrow('MapVolume.MapPodDevice failed for volume "pv" : ');
  expect(await readdir(join(rootDir, 'pods/u1/volumeDevices/kubernetes.io~csi'))).toEqual([]);
});

test('a block volume for one pod is not mapped for another one', async () => {
  const {start} = await aBlockNode({}, {...SPEC, accessModes: ['ReadWriteOncePod']});
  const {mount} = await start();
  await mount(aDevicePod('u1')).catch(() => undefined); // the driver makes no device
  await expect(mount(aDevicePod('u2'))).rejects.toThrow('is already in use by another pod');
});

test('a block volume is enlarged at the path of its device', async () => {
  const {node, driver, blocks, socket} = await aBlockNode({capabilities: ['EXPAND_VOLUME']});
  await mkdir(join(blocks, 'publish/pv'), {recursive: true});
  await symlink('/dev/null', join(blocks, 'publish/pv/u1'));
  const client = new CsiDriverClient(socket);
  const services = {node, drivers: {client: () => client}, cluster: undefined};
  const volume = {
    ...{pod: aDevicePod(), name: 'pv', specName: 'v', blockName: 'pv', driver: CSI_DRIVER, handle: 'h'},
    ...{
      isEphemeral: false,
      readOnly: false,
      fsType: 'ext4',
      attributes: {},
      accessModes: [],
      mountOptions: [],
    },
  };
  await nodeExpand(volume, '1Mi', services, signal);
  expect(driver.callsTo('NodeExpandVolume')).toMatchObject([
    {
      volume_path: '/dev/null',
      staging_target_path: join(blocks, 'staging/pv'),
      volume_capability: {block: {}},
      capacity_range: {required_bytes: '1048576'},
    },
  ]);
});
