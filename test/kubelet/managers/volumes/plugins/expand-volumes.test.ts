import {describe, expect, onTestFinished, test} from 'vitest';
import type {PersistentVolumeSpec} from '../../../../../src/api/types/v1-persistent-volumes.js';
import type {Pod} from '../../../../../src/api/types/v1-pod.js';
import type {ApiObjects} from '../../../../../src/kubelet/contract/api-objects.js';
import {runDiskTool, type RunTool} from '../../../../../src/kubelet/managers/volumes/devices/disk-tools.js';
import {mountVolumes} from '../../../../../src/kubelet/managers/volumes/volume-manager.js';
import {removePodDir} from '../../../../../src/kubelet/managers/volumes/remove-pod-dir.js';
import {attachLoopDisk, hasLoopDevices} from '../../../../base/loop-disk.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';
import {aClaimPod, aDevicePod, aNode, claims} from '../claim-fixtures.js';
import {aHost} from '../volume-fixtures.js';
import {fakeClusterVolumes, type FakeClusterVolumes} from './fake-cluster-volumes.js';

const {signal} = new AbortController();
const SIZES = {newSize: '48Mi', oldSize: '24Mi'};
/** Fields of a PersistentVolume of a claim. */
const CLAIMED = {
  ...{capacity: {storage: '48Mi'}, claimRef: {namespace: 'default', name: 'c'}},
} satisfies PersistentVolumeSpec;

/** Mounts the volume of a pod in a cluster. */
async function mountIn(cluster: FakeClusterVolumes, pod: Pod, objects: ApiObjects): Promise<string> {
  const node = await aNode();
  const {volumes} = await mountVolumes(pod, {...aHost(node, objects), csi: cluster.csi}, signal);
  onTestFinished(async () => removePodDir(node, 'u1', {csi: cluster.csi}));
  return volumes.get('v')?.hostPath ?? '';
}

test('a directory that is a local volume is enlarged by doing nothing', async () => {
  const cluster = fakeClusterVolumes('', SIZES);
  const local = {path: await temporaryDirectory()};
  await mountIn(cluster, aClaimPod(), claims({...CLAIMED, local}));
  expect(cluster.expanded).toMatchObject([
    {name: 'pv', uniqueName: 'kubernetes.io/local-volume/pv', readOnly: false, expansion: {size: '48Mi'}},
  ]);
});

describe.skipIf(!hasLoopDevices)('a block device that is a local volume (needs loop devices)', () => {
  test('has its filesystem enlarged by resize2fs(8)', async () => {
    await using disk = await attachLoopDisk(24);
    const cluster = fakeClusterVolumes('', SIZES);
    const node = await aNode();
    const objects = claims({...CLAIMED, local: {path: disk.device}});
    // To enlarge a mounted filesystem takes CAP_SYS_RESOURCE, which containers of tests may lack.
    const commands: string[] = [];
    const runTool: RunTool = async (program, args, options) => {
      if (program !== 'resize2fs') return await runDiskTool(program, args, options);
      commands.push([program, ...args].join(' '));
      return {exitCode: 0, output: ''};
    };
    await mountVolumes(aClaimPod(), {...aHost(node, objects), csi: cluster.csi, runTool}, signal);
    await removePodDir(node, 'u1', {csi: cluster.csi});
    expect(commands).toEqual([`resize2fs ${disk.device}`]);
  });
  test('is enlarged by doing nothing if containers have it as a device', async () => {
    await using disk = await attachLoopDisk(24);
    const cluster = fakeClusterVolumes('', SIZES);
    const node = await aNode();
    const objects = claims({...CLAIMED, volumeMode: 'Block', local: {path: disk.device}});
    await mountVolumes(aDevicePod(), {...aHost(node, objects), csi: cluster.csi}, signal);
    expect(cluster.expanded).toHaveLength(1);
    await removePodDir(node, 'u1', {csi: cluster.csi});
  });
});
