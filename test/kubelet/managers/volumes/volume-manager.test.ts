import {mkdir, readdir, readFile, stat, statfs, symlink, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import type {Volume} from '../../../../src/api/types/v1-volumes.js';
import {SystemError} from '../../../../src/base/errors.js';
import type {MountedVolume} from '../../../../src/kubelet/contract/pod-filesystem.js';
import {systemMounter, unmountBelow, type Mounter} from '../../../../src/kubelet/managers/volumes/mounter.js';
import {removePodDir} from '../../../../src/kubelet/managers/volumes/remove-pod-dir.js';
import {mountVolumes, planVolumes} from '../../../../src/kubelet/managers/volumes/volume-manager.js';
import type {VolumeFacts} from '../../../../src/kubelet/managers/volumes/plugins/volume-plugin.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {aHost, aPodWith} from './volume-fixtures.js';

const MI = 1024n * 1024n;
const signal = new AbortController().signal;

async function aNode(): Promise<VolumeFacts> {
  const rootDir = join(await temporaryDirectory(), 'root');
  onTestFinished(async () => {
    await unmountBelow(rootDir);
  });
  const bytes = {memoryBytes: 1124n * MI, ephemeralStorageBytes: 1024n * MI, hugePageBytes: new Map()};
  return {rootDir, cpuMilli: 2000n, ...bytes};
}

function volumeDir({rootDir}: VolumeFacts, name: string): string {
  return `${rootDir}/pods/u1/volumes/kubernetes.io~empty-dir/${name}`;
}

test('an emptyDir is a directory with mode 0777, regardless of the umask', async () => {
  const before = process.umask(0o077);
  onTestFinished(() => {
    process.umask(before);
  });
  const node = await aNode();
  const {volumes: mounted} = await mountVolumes(aPodWith([{name: 'a', emptyDir: {}}]), aHost(node), signal);
  expect([...mounted]).toEqual([['a', {hostPath: volumeDir(node, 'a'), readOnly: false}]]);
  const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o7777;
  expect(await modeOf(volumeDir(node, 'a'))).toBe(0o777);
  expect(await modeOf(dirname(volumeDir(node, 'a')))).toBe(0o755);
  expect(await readdir(`${node.rootDir}/pods/u1/plugins/kubernetes.io~empty-dir/a`)).toEqual(['ready']);
});

test('an emptyDir keeps its content when it is mounted again', async () => {
  const node = await aNode();
  const pod = aPodWith([{name: 'a', emptyDir: {}}]);
  await mountVolumes(pod, aHost(node), signal);
  await writeFile(join(volumeDir(node, 'a'), 'data'), 'kept');
  await mountVolumes(pod, aHost(node), signal);
  expect(await readFile(join(volumeDir(node, 'a'), 'data'), 'utf8')).toBe('kept');
});

test('an emptyDir that a killed process left incomplete is completed', async () => {
  const node = await aNode();
  await mkdir(volumeDir(node, 'a'), {recursive: true, mode: 0o700});
  await mountVolumes(aPodWith([{name: 'a', emptyDir: {}}]), aHost(node), signal);
  expect((await stat(volumeDir(node, 'a'))).mode & 0o7777).toBe(0o777);
});

test('a volume without a source is an emptyDir', async () => {
  const node = await aNode();
  await mountVolumes(aPodWith([{name: 'a'}]), aHost(node), signal);
  expect((await stat(volumeDir(node, 'a'))).isDirectory()).toBe(true);
});

test('only volumes that containers or init containers mount are set up', async () => {
  const node = await aNode();
  const pod = aPodWith([{name: 'a'}, {name: 'b'}, {name: 'c'}], {
    containers: [{name: 'main', image: 'i', volumeMounts: [{name: 'c', mountPath: '/c'}]}],
    initContainers: [{name: 'init', image: 'i', volumeMounts: [{name: 'a', mountPath: '/a'}]}],
  });
  const {volumes} = await mountVolumes(pod, aHost(node), signal);
  expect([...volumes.keys()]).toEqual(['a', 'c']);
  expect((await readdir(`${node.rootDir}/pods/u1/volumes/kubernetes.io~empty-dir`)).sort()).toEqual([
    'a',
    'c',
  ]);
});

test('planning volumes returns the same as mounting and creates nothing', async () => {
  const node = await aNode();
  const pod = aPodWith([
    {name: 'a', emptyDir: {}},
    {name: 'h', hostPath: {path: '/etc', type: 'Directory'}},
  ]);
  const {volumes: planned} = await planVolumes(pod, aHost(node));
  await expect(stat(node.rootDir)).rejects.toThrow('ENOENT');
  expect(planned).toEqual((await mountVolumes(pod, aHost(node), signal)).volumes);
  expect(planned.get('h')).toEqual({hostPath: '/etc', readOnly: false, keepsLabels: true});
});

test('a hostPath that does not match its type fails with the message of the FailedMount event', async () => {
  const node = await aNode();
  const pod = aPodWith([{name: 'v', hostPath: {path: `${node.rootDir}/missing`, type: 'Directory'}}]);
  await expect(mountVolumes(pod, aHost(node), signal)).rejects.toMatchObject({
    message: `MountVolume.SetUp failed for volume "v" : hostPath type check failed: ${node.rootDir}/missing is not a directory`,
    hint: "create a directory there, or change the volume's hostPath.path or hostPath.type",
  });
});

test('a failed volume does not prevent the others from being set up, and the first failure is reported', async () => {
  const node = await aNode();
  const missing = (name: string): Volume => ({name, hostPath: {path: `/none/${name}`, type: 'Directory'}});
  const pod = aPodWith([missing('x'), {name: 'a', emptyDir: {}}, missing('y')]);
  await expect(mountVolumes(pod, aHost(node), signal)).rejects.toThrow('/none/x is not a directory');
  expect((await stat(volumeDir(node, 'a'))).isDirectory()).toBe(true);
});

test('volumes that are mounted are not set up again, unless their files follow a source', async () => {
  const node = await aNode();
  const pod = aPodWith([
    {name: 'a', emptyDir: {}},
    {name: 'c', configMap: {name: 'none', optional: true}},
  ]);
  const mounted = new Map<string, MountedVolume>();
  const first = await mountVolumes(pod, aHost(node), signal, mounted);
  expect(first.failures).toEqual([]);
  const changed = aPodWith([
    {name: 'a', hostPath: {path: '/none', type: 'Directory'}},
    {name: 'c', configMap: {name: 'none'}},
  ]);
  const second = await mountVolumes(changed, aHost(node), signal, mounted);
  expect(second.volumes).toEqual(first.volumes);
  expect(second.failures.map(({message}) => message)).toEqual([
    'MountVolume.SetUp failed for volume "c" : configmap "none" not found',
  ]);
});

// Proves: Volume.hostPath
test('the SELinux labels of hostPath and image volumes must not change', async () => {
  const node = await aNode();
  const pod = aPodWith([
    {name: 'e', emptyDir: {}},
    {name: 'h', hostPath: {path: '/etc'}},
    {name: 'i', image: {reference: 'i'}},
  ]);
  const {volumes} = await mountVolumes(pod, aHost(node), signal);
  const keeping = [...volumes].filter(([, {keepsLabels}]) => keepsLabels === true);
  expect(keeping.map(([name]) => name)).toEqual(['h', 'i']);
});

test('a volume that is not mounted yet fails the mount, with those that cannot be updated', async () => {
  const node = await aNode();
  const none = {name: 'c', configMap: {name: 'none'}};
  const mounted = new Map([['c', {hostPath: '/c', readOnly: true}]]);
  const pod = aPodWith([none, {name: 'v', hostPath: {path: '/none', type: 'Directory'}}]);
  const failed = mountVolumes(pod, aHost(node), signal, mounted);
  await expect(failed).rejects.toMatchObject({failures: [{}, {}]});
});

// Proves: EmptyDirVolumeSource.medium, Volume.emptyDir
test.each([
  [
    'a medium that does not exist',
    {name: 'v', emptyDir: {medium: 'Paper'}},
    'unknown storage medium "Paper"',
  ],
  [
    'an unsupported volume type',
    {name: 'v', flocker: {datasetName: 'd'}},
    'flocker volumes are not supported',
  ],
  ['a name outside the directory', {name: '../../x', emptyDir: {}}, `the volume name "../../x" cannot be`],
])('%s is rejected and nothing is created', async (_title, volume, message) => {
  const node = await aNode();
  await expect(mountVolumes(aPodWith([volume]), aHost(node), signal)).rejects.toThrow(message);
  await expect(stat(node.rootDir)).rejects.toThrow('ENOENT');
});

test('a pod UID outside the directory is rejected', async () => {
  const node = await aNode();
  const pod = aPodWith([{name: 'a'}]);
  const hostile: Pod = {...pod, metadata: {...pod.metadata, uid: '../../x'}};
  await expect(mountVolumes(hostile, aHost(node), signal)).rejects.toThrow(`the pod UID "../../x" cannot be`);
  await expect(removePodDir(node, '../../x')).rejects.toThrow(`the pod UID "../../x" cannot be`);
});

test('aborting stops before the next volume', async () => {
  const node = await aNode();
  const stop = AbortSignal.abort(new Error('stopped'));
  await expect(mountVolumes(aPodWith([{name: 'a'}]), aHost(node), stop)).rejects.toThrow('stopped');
  await expect(stat(node.rootDir)).rejects.toThrow('ENOENT');
});

test('a memory volume is mounted without noswap if the kernel does not support it', async () => {
  const node = await aNode();
  const requestedOptions: string[] = [];
  const mounter: Mounter = {
    ...systemMounter,
    mount: async (_fileSystem, _path, options) => {
      requestedOptions.push(options);
      if (options.includes('noswap')) throw new SystemError('wrong fs type, bad option');
    },
  };
  const pod = aPodWith([{name: 'm', emptyDir: {medium: 'Memory', sizeLimit: '4Mi'}}]);
  await mountVolumes(pod, {...aHost(node), mounter}, signal);
  expect(requestedOptions).toEqual(['size=4194304,noswap', 'size=4194304']);
});

test('removing the directory of a pod that has none does nothing', async () => {
  const node = await aNode();
  await removePodDir(node, 'u1');
  await expect(stat(node.rootDir)).rejects.toThrow('ENOENT');
});

test('removing the directory of a pod does not follow links out of it', async () => {
  const node = await aNode();
  const outside = await temporaryDirectory();
  await writeFile(join(outside, 'canary'), 'alive');
  await mountVolumes(aPodWith([{name: 'a'}]), aHost(node), signal);
  await symlink(outside, join(volumeDir(node, 'a'), 'link'));
  await symlink('/', join(volumeDir(node, 'a'), 'root'));
  await removePodDir(node, 'u1');
  expect(await readdir(`${node.rootDir}/pods`)).toEqual([]);
  expect(await readdir(outside)).toEqual(['canary']);
});

/** Mounting requires root. */
describe.skipIf(process.getuid?.() !== 0)('with real mounts (needs root)', () => {
  const pod = aPodWith([{name: 'm', emptyDir: {medium: 'Memory', sizeLimit: '4Mi'}}]);

  test('a memory volume is a tmpfs with its size limit, mounted once', async () => {
    const node = await aNode();
    await mountVolumes(pod, aHost(node), signal);
    await writeFile(join(volumeDir(node, 'm'), 'data'), 'kept');
    await mountVolumes(pod, aHost(node), signal);
    const found = (await systemMounter.list()).filter(({path}) => path === volumeDir(node, 'm'));
    expect(found.map(({fileSystem}) => fileSystem)).toEqual(['tmpfs']);
    await expect(writeFile(join(volumeDir(node, 'm'), 'big'), Buffer.alloc(5 * 1024 * 1024))).rejects.toThrow(
      'ENOSPC',
    );
    expect(await readFile(join(volumeDir(node, 'm'), 'data'), 'utf8')).toBe('kept');
  });

  test('a huge page volume is a hugetlbfs with its page size, mounted once', async () => {
    const node = await aNode();
    const containers = [
      {
        ...{name: 'main', image: 'i', volumeMounts: [{name: 'h', mountPath: '/h'}]},
        resources: {requests: {'hugepages-2Mi': '2Mi'}},
      },
    ];
    const huge = aPodWith([{name: 'h', emptyDir: {medium: 'HugePages-2Mi'}}], {containers});
    await mountVolumes(huge, aHost(node), signal);
    await mountVolumes(huge, aHost(node), signal);
    const found = (await systemMounter.list()).filter(({path}) => path === volumeDir(node, 'h'));
    expect(found.map(({fileSystem}) => fileSystem)).toEqual(['hugetlbfs']);
    expect((await statfs(volumeDir(node, 'h'))).bsize).toBe(2 * 1024 * 1024);
    await removePodDir(node, 'u1');
    expect(await readdir(`${node.rootDir}/pods`)).toEqual([]);
  });

  test('a memory volume that disappeared in a reboot is mounted again although it is marked as ready', async () => {
    const node = await aNode();
    await mountVolumes(pod, aHost(node), signal);
    await unmountBelow(volumeDir(node, 'm'));
    await mountVolumes(pod, aHost(node), signal);
    expect((await systemMounter.list()).some(({path}) => path === volumeDir(node, 'm'))).toBe(true);
  });

  test('removing the directory of a pod unmounts its volumes', async () => {
    const node = await aNode();
    await mountVolumes(pod, aHost(node), signal);
    await removePodDir(node, 'u1');
    expect((await systemMounter.list()).filter(({path}) => path.startsWith(node.rootDir))).toEqual([]);
    expect(await readdir(`${node.rootDir}/pods`)).toEqual([]);
  });

  test('nothing is removed while a volume cannot be unmounted', async () => {
    const node = await aNode();
    await mountVolumes(pod, aHost(node), signal);
    await writeFile(join(volumeDir(node, 'm'), 'data'), 'kept');
    const stuck: Mounter = {
      ...systemMounter,
      unmount: async () => {
        throw new SystemError('target is busy');
      },
    };
    await expect(removePodDir(node, 'u1', {mounter: stuck})).rejects.toThrow('target is busy');
    expect(await readFile(join(volumeDir(node, 'm'), 'data'), 'utf8')).toBe('kept');
  });

  test('a mount missing from the kernel’s list is not removed through', async () => {
    const node = await aNode();
    await mountVolumes(pod, aHost(node), signal);
    await writeFile(join(volumeDir(node, 'm'), 'data'), 'kept');
    const blind: Mounter = {...systemMounter, list: async () => []};
    await expect(removePodDir(node, 'u1', {mounter: blind})).rejects.toThrow('something is mounted there');
    expect(await readFile(join(volumeDir(node, 'm'), 'data'), 'utf8')).toBe('kept');
  });
});
