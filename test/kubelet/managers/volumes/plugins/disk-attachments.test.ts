import {execFileSync} from 'node:child_process';
import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {PersistentVolumeSpec} from '../../../../../src/api/types/v1-persistent-volumes.js';
import {NO_OBJECTS} from '../../../../../src/kubelet/contract/api-objects.js';
import {
  listAttachedVolumes,
  listMountedVolumes,
} from '../../../../../src/kubelet/managers/volumes/attached-volumes.js';
import {parsePlace} from '../../../../../src/kubelet/managers/volumes/plugins/disks/disk-place.js';
import {
  fcNamesOfPlace,
  fcUniqueName,
} from '../../../../../src/kubelet/managers/volumes/plugins/fc/fc-disk.js';
import {
  iscsiNamesOfPlace,
  iscsiUniqueName,
} from '../../../../../src/kubelet/managers/volumes/plugins/iscsi/iscsi-disk.js';
import {removePodVolumes} from '../../../../../src/kubelet/managers/volumes/remove-pod-dir.js';
import {mountVolumes} from '../../../../../src/kubelet/managers/volumes/volume-manager.js';
import {hasLoopDevices} from '../../../../base/loop-disk.js';
import {timeBudget} from '../../../../base/time-budget.js';
import {until} from '../../../../base/until.js';
import {aClaimPod, aDevicePod} from '../claim-fixtures.js';
import {aPodWith} from '../volume-fixtures.js';
import {aDiskNode, type DiskNode} from './disk-node.js';
import {attachingCluster} from './fake-cluster-volumes.js';

const {signal} = new AbortController();
const NAME = 'kubernetes.io/fc/[3600508b4 x]';
const GLOBAL = 'plugins/kubernetes.io/fc/3600508b4_x';

/** Creates a node with a Fibre Channel disk. */
async function anFcNode(spec: PersistentVolumeSpec = {}): Promise<DiskNode> {
  const node = await aDiskNode({fc: {wwids: ['3600508b4 x']}, ...spec}, async () => undefined);
  await node.link('by-id/scsi-3600508b4_x', node.device);
  return node;
}

/** Returns what a process that starts finds of volumes that controllers attach. */
async function restart({host: {node, mounter}}: DiskNode) {
  const {attachments} = attachingCluster();
  const attached = await listAttachedVolumes(node);
  for (const {uniqueName, podUid} of attached) attachments.use(uniqueName, podUid);
  for (const names of await listMountedVolumes(node, mounter)) attachments.keep(names);
  return {attachments, attached};
}

test.each([
  [
    iscsiUniqueName({targetPortal: '10.0.0.1', iqn: 'iqn.2026-01.com.example:d', lun: 3}),
    'iscsi/10.0.0.1:iqn.2026-01.com.example:d:3',
  ],
  [fcUniqueName({targetWWNs: ['50a', '50b'], lun: 0}), 'fc/[50a 50b]:0'],
  [fcUniqueName({targetWWNs: ['50a'], wwids: ['36 x', '37']}), 'fc/[36 x 37]'],
])('the status of the node names a volume as a kubelet does: %s', (name, expected) => {
  expect(name).toBe(`kubernetes.io/${expected}`);
});

test('the wait until a volume is attached is timed once for its pods, until they have released it', async () => {
  const {attachments, operations} = attachingCluster();
  const wait = async (uid: string): Promise<string> =>
    await attachments.untilAttached(NAME, {uid, volume: 'v', plugin: 'kubernetes.io/fc'}, signal);
  for (const uid of ['u1', 'u2', 'u1']) expect(await wait(uid)).toBe('/dev/disk9');
  const verified = 'kubernetes.io/fc verify_controller_attached_volume true';
  expect(operations).toEqual([verified]);
  for (const uid of ['u1', 'u2']) await attachments.release(uid, async () => []);
  await wait('u3');
  expect(operations).toEqual([verified, verified]);
});

test.each<['iscsi' | 'fc', string, readonly string[]]>([
  [
    'iscsi',
    'iface-default/10.0.0.1:3260-iqn.2026-01.com.example:d-lun-3',
    ['10.0.0.1:3260', '10.0.0.1'].map((portal) => `${portal}:iqn.2026-01.com.example:d:3`),
  ],
  [
    'iscsi',
    'volumeDevices/iface-ib0/10.0.0.1:3261-iqn.2026-01.com.example:d-lun-3',
    ['10.0.0.1:3261:iqn.2026-01.com.example:d:3'],
  ],
  [
    'iscsi',
    'iface-default/[fd00::1]:3260-iqn.2026-01.com.example:d-lun-0',
    ['[fd00::1]:3260:iqn.2026-01.com.example:d:0'],
  ],
  ['iscsi', 'iface-default/other', []],
  ['fc', '50a-50b-lun-0', ['[50a 50b]:0']],
  ['fc', 'volumeDevices/36_x', ['[36_x]', '[36 x]']],
  ['fc', '36', ['[36]']],
  ['fc', 'lun-0', []],
])('the place of an %s disk %s has the names that its volume can have', (kind, text, names) => {
  const place = parsePlace(kind, text);
  if (place === undefined) throw new Error('it is no place');
  const found = {iscsi: iscsiNamesOfPlace, fc: fcNamesOfPlace}[kind](place);
  expect(found).toEqual(names.map((name) => `kubernetes.io/${kind}/${name}`));
});

test('an iSCSI disk is in use before its target is called, and waits for the controller', async () => {
  const node = await aDiskNode({}, async () => undefined);
  const ending = new AbortController();
  const {attachments, csi} = attachingCluster(
    async () =>
      await new Promise((_resolve, reject) => {
        ending.signal.addEventListener('abort', () => {
          reject(new Error('ended'));
        });
      }),
  );
  const pod = aPodWith([
    {name: 'v', iscsi: {targetPortal: '10.0.0.1', iqn: 'iqn.2026-01.com.example:d', lun: 3}},
  ]);
  const mounting = mountVolumes(pod, {...node.host, objects: NO_OBJECTS, csi}, ending.signal);
  await until(() => attachments.isWaiting('u1', 'v'));
  expect(attachments.names).toEqual(['kubernetes.io/iscsi/10.0.0.1:iqn.2026-01.com.example:d:3']);
  expect(node.calls).toEqual([]);
  ending.abort(new Error('ended'));
  await expect(mounting).rejects.toThrow('ended');
  await node.remove('u1', csi);
  expect(attachments.names).toEqual([]);
});

describe.skipIf(!hasLoopDevices)('a disk that a controller attaches (needs root)', () => {
  test('is in use until it is unmounted after the last pod and removed from the node', async () => {
    const node = await anFcNode();
    const {attachments, csi} = attachingCluster();
    for (const uid of ['u1', 'u2']) await mountVolumes(aClaimPod({}, uid), {...node.host, csi}, signal);
    await node.remove('u1', csi);
    expect(attachments.names).toEqual([NAME]);
    const other = join(node.rootDir, 'other');
    await mkdir(other);
    execFileSync('mount', [node.device, other]);
    await expect(node.remove('u2', csi)).rejects.toThrow('cannot be removed');
    expect(attachments.names).toEqual([NAME]);
    execFileSync('umount', [other]);
    await node.remove('u2', csi);
    expect(attachments.names).toEqual([]);
  });

  test('that pods have as a device is in use until it is unmapped from the last one', async () => {
    const node = await anFcNode({volumeMode: 'Block'});
    const {attachments, csi} = attachingCluster();
    for (const uid of ['u1', 'u2']) await mountVolumes(aDevicePod(uid), {...node.host, csi}, signal);
    const found = await restart(node);
    expect(found.attached.map(({podUid}) => podUid)).toEqual(['u1', 'u2']);
    expect(found.attachments.names).toEqual([NAME]);
    await node.remove('u1', csi);
    expect(attachments.names).toEqual([NAME]);
    const left = await restart(node);
    await left.attachments.release(
      'u2',
      async () => await listMountedVolumes(node.host.node, node.host.mounter),
    );
    expect(left.attachments.names, 'it is mapped').toEqual([NAME]);
    await node.remove('u2', csi);
    expect(attachments.names).toEqual([]);
    expect((await restart(node)).attachments.names).toEqual([]);
  });

  test('is in use after a restart by the name of its source, until its pod has ended', async () => {
    const node = await anFcNode();
    const {csi} = attachingCluster();
    await mountVolumes(aClaimPod(), {...node.host, csi}, signal);
    const {attachments, attached} = await restart(node);
    expect(attached).toEqual([{uniqueName: NAME, podUid: 'u1'}]);
    expect(attachments.names).toEqual([NAME]);
    const {runTool, roots} = node.host;
    await removePodVolumes(node.host.node, 'u1', {runTool, roots, csi: {...csi, attachments}});
    expect(attachments.names).toEqual([]);
    expect((await restart(node)).attachments.names).toEqual([]);
  });

  test('that a kubelet has mounted is in use after a start by each name that it can have', async () => {
    const node = await anFcNode();
    const path = join(node.rootDir, GLOBAL);
    await mkdir(path, {recursive: true});
    expect((await restart(node)).attachments.names, 'it is not mounted').toEqual([]);
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', path]);
    const {attachments} = await restart(node);
    expect(attachments.names).toEqual(['kubernetes.io/fc/[3600508b4_x]', NAME]);
    const {csi} = attachingCluster();
    await mountVolumes(aClaimPod(), {...node.host, csi: {...csi, attachments}}, signal);
    await node.remove('u1', {...csi, attachments});
    expect(await node.mounts()).toEqual([]);
    expect(attachments.names).toEqual([]);
  });

  test('that is mounted for its pod is in use again after a restart, without a wait', async () => {
    const node = await anFcNode();
    await mountVolumes(aClaimPod(), node.host, signal);
    const never = attachingCluster(async () => await new Promise<string>(() => undefined));
    await mountVolumes(aClaimPod(), {...node.host, csi: never.csi}, AbortSignal.timeout(timeBudget(60_000)));
    expect(never.attachments.names).toEqual([NAME]);
    await node.remove('u1', never.csi);
  });

  test('is neither in use nor waits if the node attaches volumes itself', async () => {
    const node = await anFcNode();
    const never = attachingCluster(async () => await new Promise<string>(() => undefined));
    const csi = {...never.csi, attachesVolumes: false};
    await mountVolumes(aClaimPod(), {...node.host, csi}, AbortSignal.timeout(timeBudget(60_000)));
    expect(never.attachments.names).toEqual([]);
    expect((await restart(node)).attached).toEqual([]);
    await node.remove('u1', csi);
  });
});
