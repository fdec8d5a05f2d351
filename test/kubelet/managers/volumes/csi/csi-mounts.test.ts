import {execFileSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {mkdir, realpath, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../../../../src/base/clock.js';
import type {CsiVolumes} from '../../../../../src/kubelet/contract/volumes/csi-volumes.js';
import {CsiDriverClient} from '../../../../../src/kubelet/managers/volumes/csi/csi-driver-client.js';
import {stagingPath} from '../../../../../src/kubelet/managers/volumes/csi/csi-paths.js';
import {
  findMountReference,
  requireDirectory,
} from '../../../../../src/kubelet/managers/volumes/csi/mount-directory.js';
import {startCsi} from '../../../../../src/kubelet/managers/volumes/csi/start-csi.js';
import {systemMounter, unmountBelow} from '../../../../../src/kubelet/managers/volumes/mounter.js';
import {removePodDir} from '../../../../../src/kubelet/managers/volumes/remove-pod-dir.js';
import {mountVolumes} from '../../../../../src/kubelet/managers/volumes/volume-manager.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';
import {fakeManagerServices} from '../../../../fakes/fake-manager-services.js';
import {CSI_DRIVER, FakeCsiDriver} from '../../../../fakes/plugins/fake-csi-driver.js';
import {GOLDEN_NODE} from '../../../../golden/golden-cases.js';
import {aClaimPod, aNode, claims} from '../claim-fixtures.js';
import {aHost} from '../volume-fixtures.js';

const {signal} = new AbortController();
const SPEC = {csi: {driver: CSI_DRIVER, volumeHandle: 'h'}, accessModes: ['ReadWriteOnce']} as const;

/** Starts a driver that mounts a tmpfs for each pod, registered with a node of its own. */
async function aCsiNode() {
  const facts = await aNode();
  const node = {...GOLDEN_NODE, ...facts};
  const socket = join(await temporaryDirectory(), 'csi.sock');
  const driver = await FakeCsiDriver.start({path: socket, mounts: true});
  const end = new AbortController();
  onTestFinished(async () => {
    end.abort();
    await driver[Symbol.asyncDispose]();
  });
  const running = await startCsi(fakeManagerServices({node, clock: systemClock}), end.signal);
  await running.drivers.register({name: CSI_DRIVER, endpoint: socket, versions: ['1.0.0']}, signal);
  const csi: CsiVolumes = running.volumes;
  return {node, driver, csi, host: {...aHost(facts, claims(SPEC)), csi}};
}

/** Mounting requires root. */
describe.skipIf(process.getuid?.() !== 0)('with real mounts (needs root)', () => {
  test('a volume with a sub-path of a container is unmounted, and nothing is left of the pod', async () => {
    const {node, driver, csi, host} = await aCsiNode();
    const {volumes} = await mountVolumes(aClaimPod(), host, signal);
    const path = volumes.get('v')?.hostPath ?? '';
    await mkdir(join(path, 'sub'));
    const pod = join(node.rootDir, 'pods/u1');
    const subPath = join(pod, 'volume-subpaths/pv/main/0');
    await mkdir(subPath, {recursive: true});
    execFileSync('mount', ['--bind', join(path, 'sub'), subPath]);
    await removePodDir(node, 'u1', {csi});
    expect(existsSync(pod)).toBe(false);
    expect(driver.changes).toEqual(
      expect.arrayContaining(['NodeStageVolume', 'NodePublishVolume', 'NodeUnpublishVolume']),
    );
  });

  test('nothing of a volume is removed while it is mounted by somebody else', async () => {
    const {node, driver, csi, host} = await aCsiNode();
    const {volumes} = await mountVolumes(aClaimPod(), host, signal);
    const path = volumes.get('v')?.hostPath ?? '';
    await writeFile(join(path, 'data'), 'x');
    const other = join(node.rootDir, 'pods/u1/other');
    await mkdir(other);
    execFileSync('mount', ['-t', 'tmpfs', 'other', other]);
    await expect(removePodDir(node, 'u1', {csi})).rejects.toThrow('is a mount that kcri did not create');
    expect(existsSync(join(path, 'data'))).toBe(true);
    expect(driver.callsTo('NodeUnpublishVolume')).toEqual([]);
  });

  test('a volume whose identity is damaged is published again, with its identity', async () => {
    const {node, csi, host} = await aCsiNode();
    const directory = join(node.rootDir, 'pods/u1/volumes/kubernetes.io~csi/pv');
    await mkdir(directory, {recursive: true});
    await writeFile(join(directory, 'vol_data.json'), '');
    await mountVolumes(aClaimPod(), host, signal);
    await removePodDir(node, 'u1', {csi});
    expect(existsSync(directory)).toBe(false);
  });

  test('without its driver, a pod with a volume is not removed', async () => {
    const {node, host} = await aCsiNode();
    await mountVolumes(aClaimPod(), host, signal);
    await expect(removePodDir(node, 'u1')).rejects.toThrow(
      `its CSI driver "${CSI_DRIVER}" is registered with no kubelet`,
    );
  });

  test('a staged filesystem that a pod still has is found', async () => {
    const root = await realpath(await temporaryDirectory());
    const staged = stagingPath({rootDir: root}, {driver: CSI_DRIVER, handle: 'h'});
    const pods = join(root, 'pods');
    const published = join(pods, 'u1/mount');
    for (const path of [staged, published]) await mkdir(path, {recursive: true});
    onTestFinished(async () => {
      await unmountBelow(root);
    });
    execFileSync('mount', ['-t', 'tmpfs', 'x', staged]);
    expect(await findMountReference(staged, pods, systemMounter)).toBeUndefined();
    execFileSync('mount', ['--bind', staged, published]);
    expect(await findMountReference(staged, pods, systemMounter)).toBe(published);
  });
});

test('a driver must make a directory, and no link', async () => {
  const directory = await temporaryDirectory();
  await expect(requireDirectory(join(directory, 'none'))).rejects.toThrow('has not made the directory');
  execFileSync('ln', ['-s', '/etc', join(directory, 'link')]);
  await expect(requireDirectory(join(directory, 'link'))).rejects.toThrow('has not made the directory');
});

test('secrets are masked in the message of a driver', async () => {
  const path = join(await temporaryDirectory(), 'csi.sock');
  await using driver = await FakeCsiDriver.start({path});
  driver.fail('NodeStageVolume', 'UNAVAILABLE', 'user adam has password adam-1');
  const stage = new CsiDriverClient(path).stage({secrets: {a: 'adam', b: 'adam-1'}}, signal);
  await expect(stage).rejects.toMatchObject({
    message: 'rpc error: code = Unavailable desc = user *** has password ***',
    isFinal: false,
  });
});
