import {existsSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {until} from '../../base/until.js';
import {startJoinedNode, type JoinedNode} from '../harness/joined-node.js';
import {attachLoopDisk, deviceMounts, loopFiles, probeDisk} from '../../base/loop-disk.js';
import {aContainer, shellCommand} from '../harness/manifests.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const NODE = 'storage';

describe.each(newestRuntime)('claims of block devices: $name', (which) => {
  let cluster: JoinedNode;
  let daemon: JoinedNode['daemon'];
  beforeAll(async () => {
    cluster = await startJoinedNode(which, NODE);
    daemon = cluster.daemon;
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  /** Creates a bound claim with a local PersistentVolume. */
  function claimDisk(name: string, device: string, volumeMode = 'Filesystem'): void {
    const claim = cluster.api.create(`/api/v1/namespaces/default/persistentvolumeclaims/${name}`, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      spec: {accessModes: ['ReadWriteOnce'], volumeName: name},
      status: {phase: 'Bound'},
    });
    const onNode = {matchExpressions: [{key: 'kubernetes.io/hostname', operator: 'In', values: [NODE]}]};
    cluster.api.create(`/api/v1/persistentvolumes/${name}`, {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      spec: {
        accessModes: ['ReadWriteOnce'],
        volumeMode,
        claimRef: {namespace: 'default', name, uid: claim.metadata.uid},
        local: {path: device, fsType: 'ext3'},
        nodeAffinity: {required: {nodeSelectorTerms: [onNode]}},
      },
    });
  }

  function createPod(name: string, claimName: string, script: string): void {
    cluster.createPod(name, {
      restartPolicy: 'Never',
      volumes: [{name: 'data', persistentVolumeClaim: {claimName}}],
      containers: [
        aContainer('main', {
          command: shellCommand(script),
          volumeMounts: [{name: 'data', mountPath: '/data'}],
        }),
      ],
    });
  }

  /** Kills the kubelet, and starts it again after `work`. */
  async function restartAfterKill(work: () => void): Promise<void> {
    daemon.kcri.kill('SIGKILL');
    await daemon.kcri.exited;
    work();
    const file = (name: string): string => join(cluster.kubelet.podTestbed.runtime.rootDir, name);
    daemon = await cluster.kubelet.start('', [
      ...['--container-logs-dir=', '--kubeconfig', file('kubeconfig')],
      ...['--client-ca-file', file('clients.crt')],
    ]);
  }

  test('a container has the device of a disk, of which nothing is left after a kill and the deletion of the pod', async () => {
    const disk = await attachLoopDisk(1);
    const {rootDir} = cluster.kubelet.podTestbed.runtime;
    onTestFinished(async () => {
      cluster.api.deletePod('raw', 0);
      await until(async () => (await loopFiles(rootDir)).length === 0);
      await disk[Symbol.asyncDispose]();
    });
    claimDisk('raw', disk.device, 'Block');
    const script = 'test -b /dev/xb && echo written >/dev/xb && exec sleep 3600';
    cluster.createPod('raw', {
      restartPolicy: 'Never',
      volumes: [{name: 'data', persistentVolumeClaim: {claimName: 'raw'}}],
      containers: [
        aContainer('main', {
          command: shellCommand(script),
          volumeDevices: [{name: 'data', devicePath: '/dev/xb'}],
        }),
      ],
    });
    await cluster.untilReady('raw');
    const {uid} = cluster.api.pod('raw')!.metadata;
    const global = join(rootDir, 'plugins/kubernetes.io~local-volume/volumeDevices/raw');
    expect(await loopFiles(rootDir)).toEqual([join(global, uid)]);
    await until(async () => (await readFile(disk.device, 'latin1')).startsWith('written\n'));

    await restartAfterKill(() => {
      cluster.api.deletePod('raw', 0);
    });
    await until(() => !existsSync(global));
    expect(await loopFiles(rootDir)).toEqual([]);
  });

  test('a disk is formatted, and unmounted for a pod that was deleted while no kubelet ran', async () => {
    const disk = await attachLoopDisk(32);
    const {device} = disk;
    onTestFinished(async () => {
      cluster.api.deletePod('reader', 0);
      await until(async () => (await deviceMounts(device)).length === 0);
      await disk[Symbol.asyncDispose]();
    });
    claimDisk('disk', device);
    createPod('writer', 'disk', 'echo written >/data/file; exec sleep 3600');
    await cluster.untilReady('writer');
    const {rootDir} = cluster.kubelet.podTestbed.runtime;
    const global = join(rootDir, 'plugins/kubernetes.io/local-volume/mounts/disk');
    const {uid} = cluster.api.pod('writer')!.metadata;
    const own = join(rootDir, 'pods', uid, 'volumes/kubernetes.io~local-volume/disk');
    expect(await deviceMounts(device)).toEqual(expect.arrayContaining([global, own]));
    expect(await probeDisk(device)).toContain('TYPE=ext3');

    await restartAfterKill(() => {
      cluster.api.deletePod('writer', 0);
    });
    await until(async () => (await deviceMounts(device)).length === 0);

    createPod('reader', 'disk', 'grep written /data/file');
    await cluster.untilPhase('reader', 'Succeeded');
    await until(async () => (await deviceMounts(device)).length === 0);
  });
});
