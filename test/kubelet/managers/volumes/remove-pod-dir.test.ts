import {execFileSync, spawnSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {mkdir, readFile, readdir, realpath, rename, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {systemMounter, unmountBelow} from '../../../../src/kubelet/managers/volumes/mounter.js';
import {isPodMount, removePodDir} from '../../../../src/kubelet/managers/volumes/remove-pod-dir.js';
import {bindSubPaths} from '../../../../src/kubelet/managers/volumes/bind-sub-paths.js';
import {mountVolumes} from '../../../../src/kubelet/managers/volumes/volume-manager.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {transpile} from '../../../base/transpile.js';
import type {MountPoint} from '../../../../src/base/fs/mount-info.js';
import {aHost, aPodWith} from './volume-fixtures.js';

const signal = new AbortController().signal;

test.each<[string, Partial<MountPoint>, string, boolean]>([
  ['a memory volume', {}, 'volumes/kubernetes.io~empty-dir/m', true],
  ['a huge page volume', {fileSystem: 'hugetlbfs'}, 'volumes/kubernetes.io~empty-dir/m', true],
  ['a Secret volume', {}, 'volumes/kubernetes.io~secret/s', true],
  ['a sub-path mount', {fileSystem: 'ext4', root: '/dir'}, 'volume-subpaths/v/main/0', true],
  ['a mount propagated into a sub-path mount', {isSlave: true}, 'volume-subpaths/v/main/12/a/b', true],
  ['a local volume', {fileSystem: 'ext4', root: '/disk'}, 'volumes/kubernetes.io~local-volume/pv', true],
  ['a mount received by a local volume', {isSlave: true}, 'volumes/kubernetes.io~local-volume/pv/a', true],
  ['a mount within a local volume', {}, 'volumes/kubernetes.io~local-volume/pv/a', false],
  ['an NFS volume', {fileSystem: 'nfs4', root: '/export'}, 'volumes/kubernetes.io~nfs/pv', true],
  [
    'a file system of the server in an NFS volume',
    {fileSystem: 'nfs4'},
    'volumes/kubernetes.io~nfs/pv/a',
    true,
  ],
  ['a disk in place of an NFS volume', {fileSystem: 'ext4'}, 'volumes/kubernetes.io~nfs/pv', false],
  ['a mount over all NFS volumes', {fileSystem: 'nfs4'}, 'volumes/kubernetes.io~nfs', false],
  ['a disk in place of a volume', {fileSystem: 'ext4'}, 'volumes/kubernetes.io~empty-dir/m', false],
  [
    'a subdirectory of another tmpfs in place of a volume',
    {root: '/dir'},
    'volumes/kubernetes.io~empty-dir/m',
    false,
  ],
  ['a mount within a volume', {}, 'volumes/kubernetes.io~empty-dir/m/a', false],
  ['a mount with an unknown volume plugin', {}, 'volumes/mine/m', false],
  ['a mount over all volumes of a plugin', {}, 'volumes/kubernetes.io~empty-dir', false],
  ['a mount within a sub-path mount', {}, 'volume-subpaths/v/main/0/a', false],
  ['a mount beside the sub-path mounts', {}, 'volume-subpaths/v/main/precious', false],
  ['a mount over all sub-path mounts', {}, 'volume-subpaths', false],
  [
    'the volumes directory bound to itself',
    {path: '/root/pods/a-uid/volumes', root: '/disk/root/pods/a-uid/volumes'},
    'volumes',
    true,
  ],
  [
    'the volumes directory of another pod',
    {path: '/root/pods/a-uid/volumes', root: '/root/pods/b-uid/volumes'},
    'volumes',
    false,
  ],
  ['a mount over the volumes directory', {path: '/root/pods/a-uid/volumes'}, 'volumes', false],
  ['a mount over the pod directory', {}, '', false],
  ['a mount at another path', {}, 'etc-hosts', false],
])('isPodMount classifies %s', (_title, fields, below, own) => {
  const mount = {
    id: 2,
    parentId: 1,
    device: '0:1',
    path: `/pod/${below}`,
    root: '/',
    fileSystem: 'tmpfs',
    source: '',
    isSlave: false,
    isShared: false,
  };
  expect(isPodMount({...mount, ...fields}, below)).toBe(own);
});

test('the unmount command in the hint quotes a mount path chosen by a container', async () => {
  const dir = await realpath(await temporaryDirectory());
  const mount = {
    id: 2,
    parentId: 1,
    device: '0:1',
    root: '/',
    fileSystem: 'tmpfs',
    source: '',
    isSlave: false,
    isShared: false,
  };
  const path = `${dir}/volumes/x$(reboot); reboot`;
  const mounter = {...systemMounter, list: async () => [{...mount, path}]};
  await expect(unmountBelow(dir, mounter, isPodMount)).rejects.toMatchObject({
    hint: expect.stringContaining(`"umount '${path}'"`) as string,
  });
});

/** Mounting requires root. */
describe.skipIf(process.getuid?.() !== 0)('with real mounts (needs root)', () => {
  const MEMORY = 'volumes/kubernetes.io~empty-dir/memory';
  const DISK = 'volumes/kubernetes.io~empty-dir/disk';

  interface PodDirTestbed {
    readonly node: {readonly rootDir: string};
    readonly dir: string;
    readonly foreign: string;
  }

  /**
   * Creates a pod with a disk and a memory volume, a sub-path mount of each, and foreign files at another
   * path.
   */
  async function aPodDir(): Promise<PodDirTestbed> {
    const directory = await temporaryDirectory();
    const node = {
      rootDir: join(directory, 'root'),
      cpuMilli: 2000n,
      memoryBytes: 1n << 30n,
      ephemeralStorageBytes: 1n << 30n,
      hugePageBytes: new Map(),
    };
    onTestFinished(async () => {
      await unmountBelow(node.rootDir);
    });
    const [dir, foreign] = [join(node.rootDir, 'pods/u1'), join(directory, 'precious')];
    await mkdir(join(foreign, 'sub'), {recursive: true});
    await writeFile(join(foreign, 'file'), 'precious');
    await writeFile(join(foreign, 'sub/file'), 'precious');
    const pod = aPodWith([
      {name: 'disk', emptyDir: {}},
      {name: 'memory', emptyDir: {medium: 'Memory', sizeLimit: '1Mi'}},
    ]);
    const {volumes} = await mountVolumes(pod, aHost(node), signal);
    const subPathMounts = [...volumes].map(([volumeName, {hostPath: volumePath}], index) => ({
      ...{index, volumeName, volumePath, path: 'part'},
      propagation: 'None' as const,
    }));
    await bindSubPaths(node, {podUid: 'u1', containerName: 'main'}, subPathMounts);
    for (const volume of [DISK, MEMORY]) {
      await mkdir(join(dir, volume, 'a/b'), {recursive: true});
      await writeFile(join(dir, volume, 'a/b/file'), '');
    }
    return {node, dir, foreign};
  }

  /** Binds the foreign directory over a path of the pod, and returns a function that unmounts it. */
  async function bindForeign({dir, foreign}: PodDirTestbed, below: string): Promise<() => void> {
    await mkdir(join(dir, below), {recursive: true});
    execFileSync('mount', ['--bind', foreign, join(dir, below)]);
    return () => execFileSync('umount', [join(dir, below)]);
  }

  async function foreignFiles({foreign}: PodDirTestbed): Promise<readonly string[]> {
    return [await readFile(join(foreign, 'file'), 'utf8'), await readFile(join(foreign, 'sub/file'), 'utf8')];
  }

  async function mountsIn({dir}: PodDirTestbed): Promise<readonly string[]> {
    return (await systemMounter.list()).map(({path}) => path).filter((path) => path.startsWith(dir));
  }

  test('mounts of kcri are unmounted and everything is removed', async () => {
    const testbed = await aPodDir();
    await removePodDir(testbed.node, 'u1');
    expect([await mountsIn(testbed), await readdir(join(testbed.node.rootDir, 'pods'))]).toEqual([[], []]);
  });

  const FOREIGN_MOUNTS = [
    ['in a volume on disk', `${DISK}/a/b`],
    ['in a volume in memory', `${MEMORY}/a/b`],
    ['over a volume on disk', DISK],
    ['over a volume in memory', MEMORY],
    ['beside the volumes', 'volumes/kubernetes.io~empty-dir/precious'],
    ['beside the sub-path mounts', 'volume-subpaths/precious'],
    ['in a sub-path mount', 'volume-subpaths/memory/main/1/precious'],
    ['in the plugins directory', 'plugins/precious'],
    ['over the whole pod', ''],
  ] as const;

  test.each(FOREIGN_MOUNTS)(
    'a foreign mount %s keeps its files and blocks the removal until it is unmounted',
    async (_title, below) => {
      const testbed = await aPodDir();
      const mountsBefore = await mountsIn(testbed);
      const unmount = await bindForeign(testbed, below);

      await expect(removePodDir(testbed.node, 'u1')).rejects.toMatchObject({
        message: expect.stringContaining('is a mount that kcri did not create') as string,
        hint: expect.stringContaining(`"umount ${join(testbed.dir, below)}"`) as string,
      });
      expect(await foreignFiles(testbed)).toEqual(['precious', 'precious']);
      unmount();
      expect(await mountsIn(testbed)).toEqual(mountsBefore);

      await removePodDir(testbed.node, 'u1');
      expect(await foreignFiles(testbed)).toEqual(['precious', 'precious']);
      expect([await mountsIn(testbed), await readdir(join(testbed.node.rootDir, 'pods'))]).toEqual([[], []]);
    },
  );

  test.each([
    ['None', true],
    ['HostToContainer', true],
    ['Bidirectional', false],
  ] as const)(
    'with a sub-path mount with propagation %s, a mount of the host below it is kept',
    async (propagation, removed) => {
      const {node, dir} = await aPodDir();
      const host = await realpath(await temporaryDirectory());
      execFileSync('mount', ['--bind', '--make-shared', host, host]);
      onTestFinished(async () => {
        await unmountBelow(host);
      });
      await mkdir(join(host, 'part/disk'), {recursive: true});
      const mount = {index: 7, volumeName: 'host', volumePath: host, path: 'part', propagation};
      await bindSubPaths(node, {podUid: 'u1', containerName: 'main'}, [mount]);
      execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', join(host, 'part/disk')]);
      await writeFile(join(host, 'part/disk/file'), 'precious');

      const removal = removePodDir(node, 'u1');

      if (removed) await removal;
      else {
        await expect(removal).rejects.toThrow('that kcri did not create');
        // As the hint says, unmounting in the pod does not unmount on the host.
        execFileSync('umount', [join(dir, 'volume-subpaths/host/main/7/disk')]);
        await removePodDir(node, 'u1');
      }
      expect(existsSync(dir)).toBe(false);
      expect(await readFile(join(host, 'part/disk/file'), 'utf8')).toBe('precious');
    },
  );

  test('a symbolic link planted by a container during the removal is not followed', async () => {
    const {node, dir, foreign} = await aPodDir();
    const host = join(await temporaryDirectory(), 'host');
    await mkdir(join(host, 'part/way/disk'), {recursive: true});
    execFileSync('mount', ['--bind', '--make-shared', host, host]);
    onTestFinished(async () => {
      await unmountBelow(host);
      await unmountBelow(foreign);
    });
    const propagation = 'HostToContainer' as const;
    const mount = {index: 7, volumeName: 'host', volumePath: host, path: 'part', propagation};
    await bindSubPaths(node, {podUid: 'u1', containerName: 'main'}, [mount]);
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', join(host, 'part/way/disk')]);
    await mkdir(join(foreign, 'disk'));
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', join(foreign, 'disk')]);
    let isReplaced = false;
    const mounter = {
      ...systemMounter,
      list: async () => {
        const mounts = await systemMounter.list();
        if (!isReplaced) {
          await rename(join(host, 'part/way'), join(host, 'part/moved'));
          await symlink(foreign, join(host, 'part/way'));
        }
        isReplaced = true;
        return mounts;
      },
    };

    await removePodDir(node, 'u1', {mounter});

    const left = (await systemMounter.list()).map(({path}) => path);
    expect(left).toContain(join(foreign, 'disk'));
    expect(left).toContain(join(host, 'part/moved/disk'));
    expect(existsSync(dir)).toBe(false);
  });

  /** Kills its own process before the N-th file system change of the removal. */
  const KILLED_REMOVAL = `
    import fs from 'node:fs/promises';
    import processes from 'node:child_process';
    import {syncBuiltinESMExports} from 'node:module';
    const [rootDir, last] = process.argv.slice(1);
    let steps = 0;
    const counted = (change) => (...args) => {
      if (++steps > Number(last)) process.kill(process.pid, 'SIGKILL');
      return change(...args);
    };
    for (const name of ['unlink', 'rmdir', 'rename', 'chmod', 'rm']) fs[name] = counted(fs[name]);
    processes.execFile = counted(processes.execFile);
    syncBuiltinESMExports();
    const {removePodDir} = await import('./kubelet/managers/volumes/remove-pod-dir.js');
    await removePodDir({rootDir}, 'u1');
  `;

  /**
   * Removes the pod directory in a process that is killed after this many changes; returns true if it
   * completed.
   */
  type RemoveAndKill = (testbed: PodDirTestbed, afterChanges: number) => boolean;

  async function createRemover(): Promise<RemoveAndKill> {
    const scripts = await temporaryDirectory();
    await transpile('kubelet/managers/volumes/remove-pod-dir', scripts);
    return (testbed, afterChanges) => removeAndKill(scripts, testbed, afterChanges);
  }

  function removeAndKill(scripts: string, {node}: PodDirTestbed, afterChanges: number): boolean {
    const args = ['--input-type=module', '-e', KILLED_REMOVAL, node.rootDir, String(afterChanges)];
    const {
      signal: killedBy,
      status,
      stderr,
    } = spawnSync(process.execPath, args, {cwd: scripts, encoding: 'utf8'});
    if (killedBy === null && status !== 0) throw new Error(stderr);
    return killedBy === null;
  }

  test('a removal killed at any step is completed by the next one, and never crosses a mount', async () => {
    const kill = await createRemover();
    let steps = 0;
    for (let ended = false; !ended; steps++) {
      const testbed = await aPodDir();
      ended = kill(testbed, steps);
      const unmount = await bindForeign(testbed, `${DISK}/a/b`);
      await expect(removePodDir(testbed.node, 'u1')).rejects.toThrow('that kcri did not create');
      unmount();
      await removePodDir(testbed.node, 'u1');
      expect(await foreignFiles(testbed)).toEqual(['precious', 'precious']);
      expect([await mountsIn(testbed), existsSync(testbed.dir)], `after ${steps} steps`).toEqual([[], false]);
    }
    expect(steps).toBeGreaterThan(15);
  });
});
