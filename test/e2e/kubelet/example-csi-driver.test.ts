import {mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {connectCsiController, connectCsiNode} from '../../../src/plugin-api/connect-plugin.js';
import {startExampleCsiDriver} from '../harness/example-csi-driver.js';

const MOUNTED = {mount: {}, accessMode: {mode: 'SINGLE_NODE_WRITER'}} as const;
const MIB = 1024n ** 2n;

/** Returns the mount points below a directory. */
async function mountsBelow(directory: string): Promise<readonly string[]> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n');
  return lines.map((line) => line.split(' ')[4] ?? '').filter((path) => path.startsWith(`${directory}/`));
}

test('a volume of the example of a CSI driver has a quota, and keeps its data while it is not mounted', async () => {
  const rootDir = await mkdtemp(join(tmpdir(), 'kcri-csi-'));
  try {
    await using driver = await startExampleCsiDriver(rootDir);
    const controller = connectCsiController(driver.socket);
    const node = connectCsiNode(driver.socket);
    const create = {name: 'pvc-1', capacityRange: {requiredBytes: 8n * MIB}, volumeCapabilities: [MOUNTED]};
    const {volume} = await controller.createVolume(create);
    expect(volume).toMatchObject({volumeId: 'pvc-1', capacityBytes: 8n * MIB});
    expect(await controller.createVolume(create)).toEqual({volume});
    await expect(
      controller.createVolume({...create, capacityRange: {requiredBytes: 9n * MIB}}),
    ).rejects.toMatchObject({grpcCode: 'ALREADY_EXISTS'});
    const tooMuch = {...create, name: 'pvc-2', capacityRange: {requiredBytes: 1024n ** 5n}};
    await expect(controller.createVolume(tooMuch)).rejects.toMatchObject({grpcCode: 'OUT_OF_RANGE'});
    await expect(controller.createVolume({...create, name: '../x'})).rejects.toMatchObject({
      grpcCode: 'INVALID_ARGUMENT',
    });

    const staged = join(rootDir, 'staged');
    const target = join(rootDir, 'target');
    const staging = {volumeId: 'pvc-1', stagingTargetPath: staged, volumeCapability: MOUNTED};
    await node.nodeStageVolume(staging);
    await node.nodePublishVolume({...staging, targetPath: target});
    await writeFile(join(target, 'kept'), 'data');
    await expect(writeFile(join(target, 'large'), Buffer.alloc(9 * Number(MIB)))).rejects.toMatchObject({
      code: 'ENOSPC',
    });
    const {usage, volumeCondition} = await node.nodeGetVolumeStats({volumeId: 'pvc-1', volumePath: target});
    expect(usage.find(({unit}) => unit === 'BYTES')?.total).toBeLessThan(8n * MIB);
    expect(volumeCondition).toMatchObject({abnormal: false});

    await driver.kill();
    await using again = await startExampleCsiDriver(rootDir);
    await node.nodeUnpublishVolume({volumeId: 'pvc-1', targetPath: target});
    await node.nodeUnstageVolume({volumeId: 'pvc-1', stagingTargetPath: staged});
    expect(await mountsBelow(rootDir)).toEqual([]);
    await node.nodeStageVolume(staging);
    expect(await readFile(join(staged, 'kept'), 'utf8')).toBe('data');
    await node.nodeUnstageVolume({volumeId: 'pvc-1', stagingTargetPath: staged});
    await controller.deleteVolume({volumeId: 'pvc-1'});
    await controller.deleteVolume({volumeId: 'pvc-1'});
    expect(await readdir(join(again.dataDir, 'volumes'))).toEqual([]);
    await expect(node.nodeStageVolume(staging)).rejects.toMatchObject({grpcCode: 'NOT_FOUND'});
    for (const client of [controller, node]) client.close();
  } finally {
    await rm(rootDir, {recursive: true});
  }
});

test('a volume in the spec of a pod is removed by the example of a CSI driver when it is unmounted', async () => {
  const rootDir = await mkdtemp(join(tmpdir(), 'kcri-csi-'));
  try {
    await using driver = await startExampleCsiDriver(rootDir);
    const node = connectCsiNode(driver.socket);
    const target = join(rootDir, 'target');
    const publish = {volumeId: 'csi-1', targetPath: target, volumeCapability: MOUNTED};
    await node.nodePublishVolume({...publish, volumeContext: {sizeMiB: '2'}});
    await expect(writeFile(join(target, 'large'), Buffer.alloc(3 * Number(MIB)))).rejects.toMatchObject({
      code: 'ENOSPC',
    });
    await node.nodeUnpublishVolume({volumeId: 'csi-1', targetPath: target});
    expect(await mountsBelow(rootDir)).toEqual([]);
    expect(await readdir(join(driver.dataDir, 'ephemeral'))).toEqual([]);
    await expect(
      node.nodePublishVolume({...publish, volumeContext: {sizeMiB: 'many'}}),
    ).rejects.toMatchObject({grpcCode: 'INVALID_ARGUMENT'});
    node.close();
  } finally {
    await rm(rootDir, {recursive: true});
  }
});
