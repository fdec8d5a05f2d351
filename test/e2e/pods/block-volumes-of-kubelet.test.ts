import {existsSync} from 'node:fs';
import {readdir, readFile, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {containerId} from '../../../src/cri/index.js';
import {attachLoopDisk, hasLoopDevices, loopFiles, type LoopDisk} from '../../base/loop-disk.js';
import {until} from '../../base/until.js';
import {
  CSI_DRIVER,
  EXPANDING_ANSWERS,
  csiSockets,
  FakeCsiDriver,
} from '../../fakes/plugins/fake-csi-driver.js';
import {startKubeletTestbed, type KubeletTestbed, type ServingDaemon} from '../harness/kubelet-testbed.js';
import {aContainer, aManifest} from '../harness/manifests.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const BLOCK = {accessModes: ['ReadWriteOnce'], volumeMode: 'Block'};
const SIZE = {storage: '1Mi'};

function aDocument(kind: string, name: string, spec: object): object {
  return {apiVersion: 'v1', kind, metadata: {name}, spec};
}

/** Returns a List of a class and claims: of the driver, and of a PersistentVolume with this device of the node. */
function storageOf(device: string): string {
  const nodeSelectorTerms = [{matchExpressions: [{key: 'kubernetes.io/hostname', operator: 'Exists'}]}];
  const local = {...{local: {path: device}, capacity: SIZE}, nodeAffinity: {required: {nodeSelectorTerms}}};
  const storageClass = {
    ...{apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: {name: 'disks'}},
    ...{provisioner: CSI_DRIVER, allowVolumeExpansion: true},
  };
  const resources = {requests: SIZE};
  const items = [
    storageClass,
    aDocument('PersistentVolumeClaim', 'csi', {...BLOCK, resources, storageClassName: 'disks'}),
    aDocument('PersistentVolumeClaim', 'local', {
      ...{...BLOCK, resources},
      ...{volumeName: 'local', storageClassName: ''},
    }),
    aDocument('PersistentVolume', 'local', {...BLOCK, ...local}),
  ];
  return JSON.stringify({apiVersion: 'v1', kind: 'List', items});
}

function podWith(claimName: string): string {
  return aManifest('raw', {
    terminationGracePeriodSeconds: 0,
    volumes: [{name: 'raw', persistentVolumeClaim: {claimName}}],
    containers: [aContainer('main', {volumeDevices: [{name: 'raw', devicePath: '/dev/xraw'}]})],
  });
}

describe.skipIf(!hasLoopDevices)('on a loop device (needs root)', () => {
  describe.each(newestRuntime)('block volumes of a kubelet that is killed: $name', (which) => {
    let testbed: KubeletTestbed;
    let disk: LoopDisk;
    let driver: FakeCsiDriver;
    let rootDir: string;
    beforeAll(async () => {
      testbed = await startKubeletTestbed(which, 'n1');
      ({rootDir} = testbed.podTestbed.runtime);
      disk = await attachLoopDisk(1);
      driver = await FakeCsiDriver.start({
        ...csiSockets(rootDir),
        device: disk.device,
        capabilities: ['STAGE_UNSTAGE_VOLUME', 'EXPAND_VOLUME'],
        answers: EXPANDING_ANSWERS,
      });
    });
    afterAll(async () => {
      await testbed[Symbol.asyncDispose]();
      await driver[Symbol.asyncDispose]();
      await disk[Symbol.asyncDispose]();
    });

    const running = async () =>
      (await testbed.podTestbed.find('raw-n1'))?.containers.filter(
        ({state}) => state === 'CONTAINER_RUNNING',
      ) ?? [];
    const run = async (command: string): Promise<string> => {
      const [container] = await running();
      return await testbed.podTestbed.exec(containerId(container?.id ?? ''), 'sh', '-c', command);
    };
    const mounts = async (): Promise<readonly string[]> =>
      (await readFile('/proc/self/mountinfo', 'utf8'))
        .split('\n')
        .map((line) => line.split(' ')[4] ?? '')
        .filter((path) => path.startsWith(rootDir) && path.includes('volumeDevices'));
    const devices = async (): Promise<readonly string[]> =>
      (await readdir(join(rootDir, 'plugins/kubernetes.io/csi/volumeDevices'))).toSorted();
    /** Returns what each restart of a kubelet must leave as it is. */
    const facts = async () => {
      const {uid} = await testbed.podTestbed.pod('raw-n1');
      const plugin = join(rootDir, 'pods', uid, 'volumeDevices');
      const [kind = ''] = await readdir(plugin);
      const [link = ''] = await readdir(join(plugin, kind));
      return {
        containers: (await running()).map(({id}) => id),
        ...{kind, loops: await loopFiles(rootDir), mounts: await mounts()},
        device: (await stat(join(plugin, kind, link))).rdev,
        released: driver.changes.filter((method) => /^NodeUn|^Delete/.test(method)).length,
      };
    };
    /** Kills the kubelet, and resolves when its successor has mapped the volume again. */
    const restart = async ({kcri}: ServingDaemon): Promise<ServingDaemon> => {
      kcri.kill('SIGKILL');
      await kcri.exited;
      const daemon = await testbed.start();
      const mapped =
        /^storage_operation_duration_seconds_count\{.*operation_name="map_volume".*status="success"/m;
      await until(async () => mapped.test(await (await fetch(`${daemon.urls.readOnly}/metrics`)).text()));
      return daemon;
    };

    test.each([
      ['csi', 'kubernetes.io~csi'],
      ['local', 'kubernetes.io~local-volume'],
    ])(
      'a device of the kind %s stays in its container, and nothing is left of it after the pod',
      async (claim, kind) => {
        await testbed.put('storage', storageOf(disk.device));
        let daemon = await testbed.start();
        await testbed.put('raw', podWith(claim));
        await until(async () => (await running()).length > 0);
        const write = 'printf hello | dd of=/dev/xraw bs=512 conv=sync 2>/dev/null; head -c5 /dev/xraw';
        expect(await run(write)).toBe('hello');
        const before = await facts();
        expect(before).toMatchObject({kind, device: (await stat(disk.device)).rdev});
        expect(before.loops).toHaveLength(1);

        daemon = await restart(daemon);
        expect(await run('head -c5 /dev/xraw')).toBe('hello');
        expect(await facts()).toEqual(before);

        await restart(daemon);
        const {uid} = await testbed.podTestbed.pod('raw-n1');
        await testbed.remove('raw');
        expect(existsSync(join(rootDir, 'pods', uid))).toBe(false);
        await until(async () => (await loopFiles(rootDir)).length === 0);
        await until(async () => (await mounts()).length === 0);
        // The volume of the claim is deleted with the claim.
        await testbed.withdraw('storage');
        await until(async () =>
          (await readdir(join(rootDir, 'kcri/volumes'))).every((name) => !name.endsWith('.json')),
        );
        await until(async () => (await devices()).join() === 'publish,staging');
      },
    );
  });
});
