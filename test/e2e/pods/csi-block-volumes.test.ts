import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {containerId} from '../../../src/cri/index.js';
import {attachLoopDisk, hasLoopDevices, loopFiles, type LoopDisk} from '../../base/loop-disk.js';
import {
  CSI_DRIVER,
  EXPANDING_ANSWERS,
  csiSockets,
  FakeCsiDriver,
} from '../../fakes/plugins/fake-csi-driver.js';
import {startPodTestbed, type PodTestbed} from '../harness/pod-testbed.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

function manifestOf(storage: string, labels: object = {}): string {
  const objects = [
    {
      ...{apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: {name: 'disks'}},
      ...{provisioner: CSI_DRIVER, allowVolumeExpansion: true},
    },
    {
      ...{apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: {name: 'raw'}},
      spec: {
        ...{accessModes: ['ReadWriteOnce'], storageClassName: 'disks', volumeMode: 'Block'},
        resources: {requests: {storage}},
      },
    },
    {
      ...{apiVersion: 'v1', kind: 'Pod', metadata: {name: 'raw-user', labels}},
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            ...{name: 'main', image: 'docker.io/library/busybox:1.36', command: ['sleep', '3600']},
            volumeDevices: [{name: 'raw', devicePath: '/dev/xraw'}],
          },
        ],
        volumes: [{name: 'raw', persistentVolumeClaim: {claimName: 'raw'}}],
      },
    },
  ];
  return objects.map((one) => JSON.stringify(one)).join('\n---\n');
}

describe.skipIf(!hasLoopDevices)('on a loop device (needs root)', () => {
  describe.each(newestRuntime)('a block volume of a CSI driver without a cluster: $name', (which) => {
    let testbed: PodTestbed;
    let disk: LoopDisk;
    let driver: FakeCsiDriver;
    let rootDir: string;
    beforeAll(async () => {
      testbed = await startPodTestbed(which);
      ({rootDir} = testbed.runtime);
      disk = await attachLoopDisk(1);
      driver = await startDriver();
    });
    afterAll(async () => {
      await testbed.delete('raw-user', '--volumes').catch(() => undefined);
      await driver[Symbol.asyncDispose]();
      await testbed[Symbol.asyncDispose]();
      await disk[Symbol.asyncDispose]();
    });

    const startDriver = async (): Promise<FakeCsiDriver> =>
      await FakeCsiDriver.start({
        ...csiSockets(rootDir),
        device: disk.device,
        capabilities: ['STAGE_UNSTAGE_VOLUME', 'EXPAND_VOLUME'],
        answers: EXPANDING_ANSWERS,
      });
    const run = async (command: string): Promise<string> => {
      const {containers} = await testbed.pod('raw-user');
      const running = containers.find(({state}) => state === 'CONTAINER_RUNNING');
      return await testbed.exec(containerId(running?.id ?? ''), 'sh', '-c', command);
    };
    const calls = (): readonly string[] =>
      driver.changes.filter((method) => !method.endsWith('Capabilities'));
    const volumes = async (): Promise<string> =>
      (await testbed.runtime.kcri(['get', 'volumes', '-o', 'wide', '--no-headers'])).stdout;
    const devices = async (): Promise<readonly string[]> =>
      await readdir(join(rootDir, 'plugins/kubernetes.io/csi/volumeDevices')).catch(() => []);

    test('a container has the device of its claim, whose data stays until the claim is deleted', async () => {
      expect(await testbed.sync(manifestOf('1Mi'))).toMatchObject({exitCode: 0, stderr: ''});
      const write = 'printf hello | dd of=/dev/xraw bs=512 conv=sync 2>/dev/null; head -c5 /dev/xraw';
      expect(await run(write)).toBe('hello');
      expect((await readFile(disk.device)).subarray(0, 5).toString()).toBe('hello');
      expect(await volumes()).toMatch(
        /^raw-user +raw +csi \(block\) +disk\.example\.com +published .* default\/raw +pvc-\S+ +<none> +\//,
      );
      expect(await loopFiles(rootDir)).toHaveLength(1);
      expect(await testbed.sync(manifestOf('2Mi'))).toMatchObject({exitCode: 0, stderr: ''});
      expect(driver.callsTo('NodeExpandVolume')).toMatchObject([{volume_capability: {block: {}}}]);
      expect(await testbed.sync(manifestOf('2Mi', {a: 'b'}))).toMatchObject({exitCode: 0, stderr: ''});
      expect(await run('head -c5 /dev/xraw')).toBe('hello');

      expect(await testbed.delete('raw-user')).toMatchObject({exitCode: 0});
      expect(calls().slice(-2)).toEqual(['NodeUnpublishVolume', 'NodeUnstageVolume']);
      expect([await loopFiles(rootDir), await devices()]).toEqual([[], ['publish', 'staging']]);
      expect(await volumes()).toMatch(/^<none> +pvc-\S+ +csi \(block\) +disk\.example\.com +unused /);
      expect(await testbed.sync(manifestOf('2Mi'))).toMatchObject({exitCode: 0});
      expect(await run('head -c5 /dev/xraw')).toBe('hello');

      await driver[Symbol.asyncDispose]();
      const refused = await testbed.delete('raw-user', '--volumes');
      expect(refused.stderr).toContain('its CSI driver "disk.example.com" cannot be called');
      driver = await startDriver();
      expect((await testbed.delete('raw-user', '--volumes')).stdout).toMatch(
        /^pod "default\/raw-user" deleted\npersistentvolume "pvc-\S+" of claim "default\/raw" deleted\n$/,
      );
      expect(calls()).toEqual(['NodeUnpublishVolume', 'NodeUnstageVolume', 'DeleteVolume']);
      expect([await loopFiles(rootDir), await devices()]).toEqual([[], ['publish', 'staging']]);
    });
  });
});
