import {execFileSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {Node, NodeStatus} from '../../../../src/api/types/v1-node.js';
import {BUSYBOX} from '../../../fakes/runtime-builders.js';
import {NODE_PATH} from '../cluster-testbed.js';
import {startCsiTestbed} from './csi-testbed.js';

const containers = [{name: 'main', image: BUSYBOX, volumeMounts: [{name: 'v', mountPath: '/v'}]}];

/** Starts a kubelet whose pods have a disk with a name in the status of the node. */
async function startDiskTestbed(source: object, uniqueName: string) {
  const testbed = await startCsiTestbed({driver: false});
  const {api} = testbed.cluster;
  const statusOfNode = (): NodeStatus => (api.storage.get(NODE_PATH) as Node | undefined)?.status ?? {};
  return {
    testbed,
    isInUse: (): boolean => statusOfNode().volumesInUse?.includes(uniqueName) === true,
    createPod: (name: string) => {
      testbed.createPod(name, {volumes: [{name: 'v', ...source}], containers});
    },
    /** Removes what the kubelet has reported as in use. */
    forget: () => {
      const node = api.storage.get(NODE_PATH);
      if (node === undefined) throw new Error('there is no Node');
      api.storage.put(NODE_PATH, {...node, status: {...statusOfNode(), volumesInUse: []}});
    },
    /** Reports the volume as attached, as a controller does, or no longer. */
    attach: (isAttached = true) => {
      const node = api.storage.get(NODE_PATH);
      if (node === undefined) throw new Error('there is no Node');
      const volumesAttached = isAttached ? [{name: uniqueName, devicePath: ''}] : [];
      api.storage.put(NODE_PATH, {...node, status: {...statusOfNode(), volumesAttached}});
    },
    [Symbol.asyncDispose]: async () => testbed[Symbol.asyncDispose](),
  };
}

test('an iSCSI volume of a pod is in use before it is attached, until the pod is deleted', async () => {
  const iscsi = {targetPortal: '10.0.0.1', iqn: 'iqn.2026-01.com.example:d', lun: 3};
  await using disk = await startDiskTestbed(
    {iscsi},
    'kubernetes.io/iscsi/10.0.0.1:iqn.2026-01.com.example:d:3',
  );
  const {testbed, isInUse} = disk;
  const {daemon, api} = testbed.cluster;
  disk.createPod('p');
  await daemon.until('it is in use', isInUse);
  expect(existsSync(join(daemon.rootDir, 'plugins/kubernetes.io/iscsi'))).toBe(false);
  api.deletePod('p');
  await daemon.until('it is no longer in use', () => !isInUse());
});

test('a Fibre Channel volume waits for its controller, and is in use until it is unmounted, also after a restart', async () => {
  await using disk = await startDiskTestbed(
    {fc: {targetWWNs: ['50a0', '50b0'], lun: 1}},
    'kubernetes.io/fc/[50a0 50b0]:1',
  );
  const {testbed, isInUse} = disk;
  const {cluster} = testbed;
  const {daemon, api} = cluster;
  // As if the disk were there: it is mounted for all pods.
  const path = join(daemon.rootDir, 'plugins/kubernetes.io/fc/50a0-50b0-lun-1');
  await mkdir(path, {recursive: true});
  execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', path]);
  const mounts = (): string => execFileSync('cat', ['/proc/self/mountinfo'], {encoding: 'utf8'});
  disk.createPod('p');
  await daemon.until('it is in use', isInUse);
  expect(cluster.status('p').phase).toBe('Pending');
  disk.attach();
  await cluster.untilPhase('p', 'Running');
  expect(mounts()).toContain('volumes/kubernetes.io~fc/v');
  await daemon.stop();
  disk.forget();
  daemon.run();
  await daemon.until('it is in use again', isInUse);
  api.deletePod('p');
  await cluster.untilDeleted('p');
  await daemon.until('it is no longer in use', () => !isInUse());
  expect(mounts()).not.toContain(path);
});
