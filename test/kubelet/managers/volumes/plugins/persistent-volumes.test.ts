import {execFileSync} from 'node:child_process';
import {chmod, chown, mkdir, readFile, stat, writeFile} from 'node:fs/promises';
import {delimiter, join} from 'node:path';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import type {PersistentVolumeSpec} from '../../../../../src/api/types/v1-persistent-volumes.js';
import {NO_OBJECTS} from '../../../../../src/kubelet/contract/api-objects.js';
import {
  systemMounter,
  unmountBelow,
  type Mounter,
} from '../../../../../src/kubelet/managers/volumes/mounter.js';
import {removePodDir} from '../../../../../src/kubelet/managers/volumes/remove-pod-dir.js';
import {resolveVolume} from '../../../../../src/kubelet/managers/volumes/plugins/resolve-volume.js';
import type {VolumeHost} from '../../../../../src/kubelet/managers/volumes/plugins/volume-plugin.js';
import {mountVolumes} from '../../../../../src/kubelet/managers/volumes/volume-manager.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';
import {aClaimPod, aNode, claims} from '../claim-fixtures.js';
import {aHost, aPodWith} from '../volume-fixtures.js';

const signal = new AbortController().signal;

/** Mounter that records the NFS mounts it is asked for. */
function recordingMounter(mounted: unknown[]): Mounter {
  return {
    ...systemMounter,
    list: async () => [],
    mountNfs: async (source, path, options) => {
      mounted.push([source, path, options]);
    },
  };
}

const NFS = {server: 'nfs.example.com', path: '/export'};

const OPTIONS = ['nfsvers=4.2', 'hard', 'hard', 'ro'];

test.each<[string, PersistentVolumeSpec, boolean, readonly [source: string, options: readonly string[]]]>([
  ['without options', {nfs: NFS}, false, ['nfs.example.com:/export', []]],
  ['read-only', {nfs: NFS}, true, ['nfs.example.com:/export', ['ro']]],
  [
    'with the options of the volume, sorted and once each',
    {nfs: NFS, mountOptions: OPTIONS},
    true,
    ['nfs.example.com:/export', ['hard', 'nfsvers=4.2', 'ro']],
  ],
  ['from an IPv6 address', {nfs: {server: 'fd00::1', path: '/x'}}, false, ['[fd00::1]:/x', []]],
])('an NFS volume is mounted %s', async (_title, spec, readOnly, [source, options]) => {
  const node = await aNode();
  const mounted: unknown[] = [];
  const host = {...aHost(node, claims(spec, readOnly)), mounter: recordingMounter(mounted)};
  const {volumes} = await mountVolumes(aClaimPod(), host, signal);
  const path = join(node.rootDir, 'pods/u1/volumes/kubernetes.io~nfs/pv');
  expect(mounted).toEqual([[source, path, options]]);
  expect(volumes.get('v')).toEqual({hostPath: path, readOnly, keepsLabels: true});
});

const ISCSI = {targetPortal: '192.0.2.1', iqn: 'iqn.2026-11.com.example:disk', lun: 0};

function isExpandable(spec: PersistentVolumeSpec): boolean {
  const capacity = {capacity: {storage: '2Gi'}, claimRef: {namespace: 'default', name: 'c'}};
  const claimed = {volume: {metadata: {name: 'pv'}, spec: {...spec, ...capacity}}, claimSize: '1Gi'};
  const objects = {...NO_OBJECTS, claimedVolume: () => ({...claimed, readOnly: false, isOnNode: true})};
  const volume = {name: 'v', persistentVolumeClaim: {claimName: 'c'}};
  return resolveVolume(aClaimPod(), volume, objects).isExpandable;
}

test('a CSI volume larger than its claim is enlarged on the node', () => {
  expect(isExpandable({csi: {driver: 'csi.example.com', volumeHandle: 'h'}})).toBe(true);
});

// FindNodeExpandablePluginBySpec finds no plugin for them.
test.each<[kind: string, spec: PersistentVolumeSpec]>([
  ['iSCSI', {iscsi: ISCSI}],
  ['Fibre Channel', {fc: {targetWWNs: ['500a0982991b8dc5'], lun: 0}}],
  ['NFS', {nfs: NFS}],
])('a volume of kind %s larger than its claim is left as it is', (_kind, spec) => {
  expect(isExpandable(spec)).toBe(false);
});

test.each([
  ['1234', 1234n],
  ['-1', -1n],
  ['staff', undefined],
  ['', undefined],
])('the annotation pv.beta.kubernetes.io/gid with the value %j gives the group %s', async (gid, groupId) => {
  const node = await aNode();
  const volume = {metadata: {name: 'pv', annotations: {'pv.beta.kubernetes.io/gid': gid}}, spec: {nfs: NFS}};
  const objects = {...NO_OBJECTS, claimedVolume: () => ({volume, readOnly: false, isOnNode: true})};
  const host = {...aHost(node, objects), mounter: recordingMounter([])};
  const {volumes} = await mountVolumes(aClaimPod(), host, signal);
  expect(volumes.get('v')?.groupId).toBe(groupId);
});

// Proves: Volume.nfs, NFSVolumeSource.server, NFSVolumeSource.path, NFSVolumeSource.readOnly
test('an NFS volume of a pod without a claim is mounted under the name of the volume', async () => {
  const node = await aNode();
  const mounted: unknown[] = [];
  const host = {...aHost(node), mounter: recordingMounter(mounted)};
  const {volumes} = await mountVolumes(aPodWith([{name: 'v', nfs: {...NFS, readOnly: true}}]), host, signal);
  const hostPath = join(node.rootDir, 'pods/u1/volumes/kubernetes.io~nfs/v');
  expect(mounted).toEqual([['nfs.example.com:/export', hostPath, ['ro']]]);
  expect(volumes.get('v')).toEqual({hostPath, readOnly: true, keepsLabels: true});
});

test('a mounted NFS volume is not mounted again, and its server is not asked for anything', async () => {
  const node = await aNode();
  const mounted: unknown[] = [];
  const path = join(node.rootDir, 'pods/u1/volumes/kubernetes.io~nfs/pv');
  await mkdir(path, {recursive: true});
  const mount = {
    id: 2,
    parentId: 1,
    device: '0:1',
    root: '/',
    fileSystem: 'nfs4',
    source: '',
    isSlave: false,
    isShared: false,
    path,
  };
  const mounter = {...recordingMounter(mounted), list: async () => [mount]};
  await mountVolumes(aClaimPod(), {...aHost(node, claims({nfs: NFS})), mounter}, signal);
  expect(mounted).toEqual([]);
});

test('mount(8) is called as by a kubelet, and its failure has the message of a kubelet', async () => {
  const directory = await temporaryDirectory();
  await writeFile(
    join(directory, 'mount'),
    `#!/bin/sh\necho "$@" > ${directory}/called\necho "mount.nfs: access denied" >&2\nexit 32\n`,
    {mode: 0o755},
  );
  vi.stubEnv('PATH', `${directory}${delimiter}${process.env['PATH']}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const node = await aNode();
  const mounter = {...systemMounter, list: async () => []};
  const host = {...aHost(node, claims({nfs: NFS, mountOptions: ['hard', 'vers=4']})), mounter};
  const path = join(node.rootDir, 'pods/u1/volumes/kubernetes.io~nfs/pv');
  const args = `-t nfs -o hard,vers=4 nfs.example.com:/export ${path}`;
  await expect(mountVolumes(aClaimPod(), host, signal)).rejects.toMatchObject({
    message: `MountVolume.SetUp failed for volume "pv" : mount failed: exit status 32\nMounting command: mount\nMounting arguments: ${args}\nOutput: mount.nfs: access denied\n\n`,
  });
  expect(await readFile(join(directory, 'called'), 'utf8')).toBe(`${args}\n`);
  await expect(stat(path)).rejects.toThrow('ENOENT');
});

/** Mounting requires root. */
describe.skipIf(process.getuid?.() !== 0)('with real mounts (needs root)', () => {
  async function aDisk(): Promise<string> {
    const disk = join(await temporaryDirectory(), 'disk');
    await mkdir(join(disk, 'sub'), {recursive: true});
    await writeFile(join(disk, 'sub/file'), 'kept', {mode: 0o600});
    return disk;
  }

  test('a local volume is bound at the pod, mounted once, and survives the pod', async () => {
    const [node, disk] = [await aNode(), await aDisk()];
    const host = aHost(node, claims({local: {path: disk}}));
    const {volumes} = await mountVolumes(aClaimPod(), host, signal);
    await mountVolumes(aClaimPod(), host, signal);
    expect(volumes.get('v')?.keepsLabels).toBeUndefined();
    const path = join(node.rootDir, 'pods/u1/volumes/kubernetes.io~local-volume/pv');
    expect((await systemMounter.list()).filter((mount) => mount.path === path)).toHaveLength(1);
    await removePodDir(node, 'u1');
    await expect(stat(join(node.rootDir, 'pods/u1'))).rejects.toThrow('ENOENT');
    expect(await readFile(join(disk, 'sub/file'), 'utf8')).toBe('kept');
  });

  test('a local volume that is used read-only cannot be written on the node either', async () => {
    const [node, disk] = [await aNode(), await aDisk()];
    const host = aHost(node, claims({local: {path: disk}}, true));
    const {volumes} = await mountVolumes(aClaimPod(), host, signal);
    expect(volumes.get('v')).toMatchObject({readOnly: true, keepsLabels: true});
    const path = join(node.rootDir, 'pods/u1/volumes/kubernetes.io~local-volume/pv');
    await expect(writeFile(join(path, 'new'), '')).rejects.toThrow('EROFS');
    await writeFile(join(disk, 'new'), '');
  });

  test('the first pod sets the group of a local volume, and others leave it alone', async () => {
    const [node, disk] = [await aNode(), await aDisk()];
    const warnings: string[] = [];
    const host: VolumeHost = {
      ...aHost(node, claims({local: {path: disk}})),
      events: ({type, reason, message}) => void warnings.push(`${type} ${reason}: ${message}`),
    };
    await mountVolumes(aClaimPod({securityContext: {fsGroup: 2000}}), host, signal);
    await mountVolumes(aClaimPod({securityContext: {fsGroup: 2000}}, 'u3'), host, signal);
    expect(warnings).toEqual([]);
    expect(await stat(join(disk, 'sub/file'))).toMatchObject({gid: 2000, mode: 0o100660});
    await mountVolumes(aClaimPod({securityContext: {fsGroup: 3000}}, 'u2'), host, signal);
    expect(await stat(join(disk, 'sub/file'))).toMatchObject({gid: 2000});
    expect(warnings).toEqual([
      'Warning AlreadyMountedVolume: The requested fsGroup is 3000, but the volume pv has GID 2000. The volume may not be shareable.',
    ]);
  });

  // Proves: PodSecurityContext.fsGroupChangePolicy
  test.each([
    ['Always', 2000],
    ['OnRootMismatch', 0],
  ] as const)(
    'with the policy %s, the group of files in a volume with the right root is %i',
    async (policy, gid) => {
      const [node, disk] = [await aNode(), await aDisk()];
      const host = aHost(node, claims({local: {path: disk}}));
      const pod = aClaimPod({securityContext: {fsGroup: 2000, fsGroupChangePolicy: policy}});
      await mountVolumes(pod, host, signal);
      await removePodDir(node, 'u1');
      await writeFile(join(disk, 'later'), '');
      await chown(join(disk, 'later'), 0, 0);
      await mountVolumes(pod, host, signal);
      expect((await stat(join(disk, 'later'))).gid).toBe(gid);
      expect((await stat(disk)).gid).toBe(2000);
    },
  );

  test('a volume for one pod is not mounted for a second one', async () => {
    const [node, disk] = [await aNode(), await aDisk()];
    const host = aHost(node, claims({local: {path: disk}, accessModes: ['ReadWriteOncePod']}));
    await mountVolumes(aClaimPod(), host, signal);
    await expect(mountVolumes(aClaimPod({}, 'u2'), host, signal)).rejects.toThrow(
      'MountVolume.SetUp failed for volume "pv" : volume uses the ReadWriteOncePod access mode and is already in use by another pod',
    );
    await removePodDir(node, 'u1');
    await mountVolumes(aClaimPod({}, 'u2'), host, signal);
  });

  test('a local volume that a killed process left without its options is mounted again', async () => {
    const [node, disk] = [await aNode(), await aDisk()];
    const host = aHost(node, claims({local: {path: disk}}, true));
    const killed: Mounter = {
      ...systemMounter,
      remountBind: async () => {
        throw new Error('killed');
      },
      unmount: async () => undefined,
    };
    await expect(mountVolumes(aClaimPod(), {...host, mounter: killed}, signal)).rejects.toThrow();
    await mountVolumes(aClaimPod(), host, signal);
    const path = join(node.rootDir, 'pods/u1/volumes/kubernetes.io~local-volume/pv');
    await expect(writeFile(join(path, 'new'), '')).rejects.toThrow('EROFS');
  });

  test('mounts that a local volume received from the node remain there when the pod is removed', async () => {
    const [node, disk] = [await aNode(), await aDisk()];
    execFileSync('mount', ['--bind', disk, disk]);
    onTestFinished(async () => {
      await unmountBelow(disk);
    });
    execFileSync('mount', ['--make-rshared', disk]);
    const pod = aClaimPod();
    const [container] = pod.spec.containers;
    const volumeMounts = [{name: 'v', mountPath: '/v', mountPropagation: 'HostToContainer'}] as const;
    const receiving = {...pod, spec: {...pod.spec, containers: [{...container!, volumeMounts}]}};
    await mountVolumes(receiving, aHost(node, claims({local: {path: disk}})), signal);
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', join(disk, 'sub')]);
    await writeFile(join(disk, 'sub/precious'), 'precious');
    await removePodDir(node, 'u1');
    expect(await readFile(join(disk, 'sub/precious'), 'utf8')).toBe('precious');
  });

  test('a file in place of a local volume’s directory is refused with the kubelet’s message', async () => {
    const [node, disk] = [await aNode(), await aDisk()];
    await chmod(join(disk, 'sub/file'), 0o644);
    const host = aHost(node, claims({local: {path: join(disk, 'sub/file')}}));
    await expect(mountVolumes(aClaimPod(), host, signal)).rejects.toThrow(
      'MountVolume.NewMounter initialization failed for volume "pv" : only directory and block device are supported',
    );
  });
});
