import {existsSync} from 'node:fs';
import {readdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {PersistentVolumeSpec} from '../../../../../../src/api/types/v1-persistent-volumes.js';
import {NO_OBJECTS} from '../../../../../../src/kubelet/contract/api-objects.js';
import {mountVolumes} from '../../../../../../src/kubelet/managers/volumes/volume-manager.js';
import {deviceMounts, hasLoopDevices, loopFiles, probeDisk} from '../../../../../base/loop-disk.js';
import {aClaimPod, aDevicePod} from '../../claim-fixtures.js';
import {aPodWith} from '../../volume-fixtures.js';
import {aDiskNode, type DiskNode} from '../disk-node.js';

const {signal} = new AbortController();
const WWN = '50060e801049cfd1';

/** Creates a node on which a scan of all hosts makes the link to the disk appear. */
async function anFcNode(link: string, spec: PersistentVolumeSpec): Promise<DiskNode> {
  const node = await aDiskNode(spec, async () => undefined);
  const {host} = node;
  await node.sysfs('class/scsi_host/host2/scan', '');
  await node.sysfs(`block/${node.device.slice('/dev/'.length)}/device/delete`, '');
  return {
    ...node,
    host: {
      ...host,
      runTool: async (program, ...call) => {
        const result = await host.runTool(program, ...call);
        if (program === 'sh' && call[0][3] === '- - -') await node.link(link, node.device);
        return result;
      },
    },
  };
}

describe.skipIf(!hasLoopDevices)('a Fibre Channel disk (needs root)', () => {
  // Proves: FCVolumeSource.targetWWNs, FCVolumeSource.lun, FCVolumeSource.wwids
  test.each<[string, string, NonNullable<PersistentVolumeSpec['fc']>, string]>([
    [
      'a LUN of a target',
      `by-path/pci-0000:41:00.0-fc-0x${WWN}-lun-0`,
      {targetWWNs: [WWN], lun: 0},
      `${WWN}-lun-0`,
    ],
    ['an identifier', 'by-id/scsi-3600508b4_x', {wwids: ['3600508b4 x']}, '3600508b4_x'],
  ])('is found by %s, mounted once, and removed after the last pod', async (_by, link, fc, name) => {
    const node = await anFcNode(link, {fc});
    const {rootDir, device, calls} = node;
    await mountVolumes(aClaimPod(), node.host, signal);
    await mountVolumes(aClaimPod({}, 'u2'), node.host, signal);
    expect(calls).toEqual(['- - - >class/scsi_host/host2/scan']);
    const global = `plugins/kubernetes.io/fc/${name}`;
    const podMount = (uid: string): string => `pods/${uid}/volumes/kubernetes.io~fc/pv`;
    expect(await node.mounts()).toEqual([global, podMount('u1'), podMount('u2')]);
    await node.remove('u1');
    await node.remove('u2');
    const disk = device.slice('/dev/'.length);
    expect(calls.slice(1)).toEqual([`blockdev --flushbufs ${device}`, `1 >block/${disk}/device/delete`]);
    expect(await deviceMounts(device)).toEqual([]);
    expect(await readdir(join(rootDir, 'plugins/kubernetes.io/fc'))).toEqual([]);
  });

  // Proves: Volume.fc, FCVolumeSource.fsType, FCVolumeSource.readOnly
  test('of the spec of a pod has the filesystem that it names, and is read-only for a pod that says so', async () => {
    const fc = {wwids: ['x1'], fsType: 'ext3'};
    const node = await anFcNode('by-id/scsi-x1', {});
    const mount = async (uid: string, readOnly: boolean): Promise<string> => {
      const pod = aPodWith([{name: 'v', fc: {...fc, readOnly}}]);
      const owned = {...pod, metadata: {...pod.metadata, uid}};
      const {volumes} = await mountVolumes(owned, {...node.host, objects: NO_OBJECTS}, signal);
      return volumes.get('v')?.hostPath ?? '';
    };
    await mount('u1', false);
    await expect(writeFile(join(await mount('u2', true), 'file'), 'x')).rejects.toThrow('EROFS');
    expect(await probeDisk(node.device)).toContain('TYPE=ext3');
    await node.remove('u1');
    await node.remove('u2');
  });

  test('is mapped as a device', async () => {
    const spec = {volumeMode: 'Block', fc: {wwids: ['x1']}} as const;
    const node = await anFcNode('by-id/scsi-x1', spec);
    await mountVolumes(aDevicePod(), node.host, signal);
    const global = join(node.rootDir, 'plugins/kubernetes.io/fc/volumeDevices/x1');
    expect(await loopFiles(node.rootDir)).toEqual([join(global, 'u1')]);
    await node.remove('u1');
    expect(existsSync(global)).toBe(false);
    expect(node.calls.at(-1)).toContain('device/delete');
  });

  test('that no host finds is an error with what to check', async () => {
    const node = await anFcNode('by-id/scsi-other', {fc: {wwids: ['x1']}});
    await expect(mountVolumes(aClaimPod(), node.host, signal)).rejects.toMatchObject({
      message: 'MountVolume.WaitForAttach failed for volume "pv" : no fc disk found',
      hint: expect.stringContaining('check the zoning') as string,
    });
    await node.remove('u1');
  });
});
