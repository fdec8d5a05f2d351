import {execFileSync} from 'node:child_process';
import {open} from 'node:fs/promises';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {attachLoopDisk, deviceMounts, probeDisk} from '../../base/loop-disk.js';
import {aContainer, aManifest} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed} from '../harness/pod-testbed.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const ACCESS_MODES = ['ReadWriteOnce'];

/** Returns documents of a claim and its PersistentVolume on a block device. */
function aDisk(name: string, device: string): readonly string[] {
  const onNode = {key: 'kubernetes.io/hostname', operator: 'Exists'};
  const volume = {
    ...{accessModes: ACCESS_MODES, capacity: {storage: '1Mi'}},
    local: {path: device},
    nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [onNode]}]}},
  };
  const claim = {accessModes: ACCESS_MODES, resources: {requests: {storage: '1Mi'}}, volumeName: name};
  const aDocument = (kind: string, spec: object): string =>
    JSON.stringify({apiVersion: 'v1', kind, metadata: {name}, spec});
  return [aDocument('PersistentVolumeClaim', claim), aDocument('PersistentVolume', volume)];
}

function aPod(name: string, claimName: string, readOnly = false): string {
  return aManifest(name, {
    securityContext: {fsGroup: 2000},
    terminationGracePeriodSeconds: 0,
    volumes: [{name: 'data', persistentVolumeClaim: {claimName, readOnly}}],
    containers: [aContainer('main', {volumeMounts: [{name: 'data', mountPath: '/data'}]})],
  });
}

describe.each(newestRuntime)('volumes on block devices: $name', (which) => {
  let testbed: PodTestbed;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
  });
  afterAll(() => testbed[Symbol.asyncDispose]());

  /** Attaches a disk until the pods of the test are deleted. */
  async function attach(...pods: readonly string[]): Promise<string> {
    const disk = await attachLoopDisk(32);
    onTestFinished(async () => {
      for (const pod of pods) await testbed.delete(pod);
      await disk[Symbol.asyncDispose]();
    });
    return disk.device;
  }

  const inPod = async (name: string, command: string): Promise<string> => {
    const {containers} = await testbed.pod(name);
    return await testbed.exec(containers[0]!.id, 'sh', '-c', command);
  };

  test('are formatted once, keep their data for later pods, and are unmounted after the last one', async () => {
    const device = await attach('disk-first', 'disk-second', 'disk-third');
    const sync = async (pod: string): Promise<void> => {
      const result = await testbed.sync([pod, ...aDisk('disk', device)].join('\n---\n'));
      expect(result).toMatchObject({exitCode: 0});
    };
    await sync(aPod('disk-first', 'disk'));
    await inPod('disk-first', 'echo kept >/data/file');
    expect(await inPod('disk-first', 'stat -c "%g %a" /data; grep " /data " /proc/mounts')).toMatch(
      new RegExp(`^2000 2775\n${device} /data ext4 rw,`),
    );
    const formatted = await probeDisk(device);
    expect(formatted).toContain('TYPE=ext4');

    await sync(aPod('disk-second', 'disk', true));
    expect(await inPod('disk-second', 'cat /data/file; touch /data/new 2>&1 || true')).toMatch(
      /^kept\n.*Read-only file system$/,
    );
    const global = `${testbed.runtime.rootDir}/plugins/kubernetes.io/local-volume/mounts/disk`;
    await testbed.delete('disk-first');
    expect(await deviceMounts(device)).toContain(global);
    await testbed.delete('disk-second');
    expect(await deviceMounts(device)).toEqual([]);

    await sync(aPod('disk-third', 'disk'));
    expect(await inPod('disk-third', 'cat /data/file')).toBe('kept');
    const {uid} = await testbed.pod('disk-third');
    await testbed.delete('disk-third');
    expect(await deviceMounts(device)).toEqual([]);
    expect(await testbed.listLeftovers(uid)).toEqual([]);
    expect(await probeDisk(device)).toEqual(formatted);
  });

  /** Partition table with one Linux partition. */
  const partitions = Buffer.alloc(512);
  partitions.set([0, 0, 2, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 0x40, 0, 0], 446);
  partitions.set([0x55, 0xaa], 510);

  test.each<[string, (device: string) => Promise<void>, string, string]>([
    [
      'partitions',
      async (device) => {
        const file = await open(device, 'r+');
        await file.write(partitions, 0, partitions.length, 0);
        await file.close();
      },
      'PTTYPE=dos',
      'the device has partitions: set spec.local.path of the PersistentVolume to one of them',
    ],
    [
      'swap space',
      async (device) => {
        execFileSync('mkswap', [device]);
      },
      'TYPE=swap',
      'the device contains swap',
    ],
  ])('are not formatted if they have %s', async (_title, prepare, content, hint) => {
    const device = await attach('disk-foreign');
    await prepare(device);
    const found = await probeDisk(device);
    expect(found).toContain(content);
    const {exitCode, stderr} = await testbed.sync(
      [aPod('disk-foreign', 'foreign'), ...aDisk('foreign', device)].join('\n---\n'),
    );
    expect(exitCode).toBe(1);
    expect(stderr).toContain('MountVolume.MountDevice failed for volume "foreign" : local: failed to mount');
    expect(stderr).toMatch(/wrong fs type|already mounted or mount point busy/);
    expect(stderr).toContain(hint);
    expect(await probeDisk(device)).toEqual(found);
  });
});
