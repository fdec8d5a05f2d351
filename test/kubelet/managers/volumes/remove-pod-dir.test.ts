import {execFileSync, spawnSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {mkdir, readFile, readdir, realpath, rename, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {
  systemMounter,
  unmountBelow,
  type MountPoint,
} from '../../../../src/kubelet/managers/volumes/mounter.js';
import {isPodMount, removePodDir} from '../../../../src/kubelet/managers/volumes/remove-pod-dir.js';
import {bindSubPaths} from '../../../../src/kubelet/managers/volumes/bind-sub-paths.js';
import {mountVolumes} from '../../../../src/kubelet/managers/volumes/volume-manager.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {transpile} from '../../../base/transpile.js';
import {aHost, aPodWith} from './volume-fixtures.js';

const signal = new AbortController().signal;

test.each<[string, Partial<MountPoint>, string, boolean]>([
  ['a volume in memory', {}, 'volumes/kubernetes.io~empty-dir/m', true],
  ['a volume of huge pages', {fileSystem: 'hugetlbfs'}, 'volumes/kubernetes.io~empty-dir/m', true],
  ['a secret', {}, 'volumes/kubernetes.io~secret/s', true],
  ['a part of a volume', {fileSystem: 'ext4', root: '/dir'}, 'volume-subpaths/v/main/0', true],
  ['what came to a part of a volume', {isSlave: true}, 'volume-subpaths/v/main/12/a/b', true],
  ['a disk in place of a volume', {fileSystem: 'ext4'}, 'volumes/kubernetes.io~empty-dir/m', false],
  [
    'a part of another tmpfs in place of a volume',
    {root: '/dir'},
    'volumes/kubernetes.io~empty-dir/m',
    false,
  ],
  ['a mount in a volume', {}, 'volumes/kubernetes.io~empty-dir/m/a', false],
  ['a mount of another kind of name', {}, 'volumes/mine/m', false],
  ['a mount on all volumes', {}, 'volumes/kubernetes.io~empty-dir', false],
  ['a mount in a part of a volume', {}, 'volume-subpaths/v/main/0/a', false],
  ['a mount beside the parts of volumes', {}, 'volume-subpaths/v/main/precious', false],
  ['a mount on all parts of volumes', {}, 'volume-subpaths', false],
  [
    'the volumes on themselves',
    {path: '/root/pods/a-uid/volumes', root: '/disk/root/pods/a-uid/volumes'},
    'volumes',
    true,
  ],
  [
    'the volumes of another pod',
    {path: '/root/pods/a-uid/volumes', root: '/root/pods/b-uid/volumes'},
    'volumes',
    false,
  ],
  ['a mount on the volumes', {path: '/root/pods/a-uid/volumes'}, 'volumes', false],
  ['a mount on the pod', {}, '', false],
  ['a mount elsewhere', {}, 'etc-hosts', false],
])('%s: own or not', (_title, fields, below, own) => {
  const mount = {
    id: 2,
    parentId: 1,
    path: `/pod/${below}`,
    root: '/',
    fileSystem: 'tmpfs',
    isSlave: false,
    isShared: false,
  };
  expect(isPodMount({...mount, ...fields}, below)).toBe(own);
});

test('what a person is told to run holds no command that a container has made the name of its mount', async () => {
  const dir = await realpath(await temporaryDirectory());
  const mount = {id: 2, parentId: 1, root: '/', fileSystem: 'tmpfs', isSlave: false, isShared: false};
  const path = `${dir}/volumes/x$(reboot); reboot`;
  const mounter = {...systemMounter, list: async () => [{...mount, path}]};
  await expect(unmountBelow(dir, mounter, isPodMount)).rejects.toMatchObject({
    hint: expect.stringContaining(`"umount '${path}'"`) as string,
  });
});

/** Only root can mount. */
describe.skipIf(process.getuid?.() !== 0)('with real mounts (needs root)', () => {
  const MEMORY = 'volumes/kubernetes.io~empty-dir/memory';
  const DISK = 'volumes/kubernetes.io~empty-dir/disk';

  interface Ground {
    readonly node: {readonly rootDir: string};
    readonly dir: string;
    readonly precious: string;
  }

  /** A pod with a volume on disk and one in memory, a part of each mounted, and precious files elsewhere. */
  async function aPodDir(): Promise<Ground> {
    const directory = await temporaryDirectory();
    const node = {
      rootDir: join(directory, 'root'),
      cpuMilli: 2000n,
      memoryBytes: 1n << 30n,
      ephemeralStorageBytes: 1n << 30n,
    };
    onTestFinished(async () => {
      await unmountBelow(node.rootDir);
    });
    const [dir, precious] = [join(node.rootDir, 'pods/u1'), join(directory, 'precious')];
    await mkdir(join(precious, 'sub'), {recursive: true});
    await writeFile(join(precious, 'file'), 'precious');
    await writeFile(join(precious, 'sub/file'), 'precious');
    const pod = aPodWith([
      {name: 'disk', emptyDir: {}},
      {name: 'memory', emptyDir: {medium: 'Memory', sizeLimit: '1Mi'}},
    ]);
    const volumes = await mountVolumes(pod, aHost(node), signal);
    const parts = [...volumes].map(([volumeName, {hostPath: volumePath}], index) => ({
      ...{index, volumeName, volumePath, path: 'part'},
      propagation: 'None' as const,
    }));
    await bindSubPaths(node, {podUid: 'u1', containerName: 'main'}, parts);
    for (const volume of [DISK, MEMORY]) {
      await mkdir(join(dir, volume, 'a/b'), {recursive: true});
      await writeFile(join(dir, volume, 'a/b/file'), '');
    }
    return {node, dir, precious};
  }

  /** Binds the precious directory to where it must not be, and gives how to undo it. */
  async function bindPrecious({dir, precious}: Ground, below: string): Promise<() => void> {
    await mkdir(join(dir, below), {recursive: true});
    execFileSync('mount', ['--bind', precious, join(dir, below)]);
    return () => execFileSync('umount', [join(dir, below)]);
  }

  async function preciousFiles({precious}: Ground): Promise<readonly string[]> {
    return [
      await readFile(join(precious, 'file'), 'utf8'),
      await readFile(join(precious, 'sub/file'), 'utf8'),
    ];
  }

  async function mountsIn({dir}: Ground): Promise<readonly string[]> {
    return (await systemMounter.list()).map(({path}) => path).filter((path) => path.startsWith(dir));
  }

  test('what kcri has mounted is unmounted, and all is removed', async () => {
    const ground = await aPodDir();
    await removePodDir(ground.node, 'u1');
    expect([await mountsIn(ground), await readdir(join(ground.node.rootDir, 'pods'))]).toEqual([[], []]);
  });

  const PLACES = [
    ['in a volume on disk', `${DISK}/a/b`],
    ['in a volume in memory', `${MEMORY}/a/b`],
    ['over a volume on disk', DISK],
    ['over a volume in memory', MEMORY],
    ['beside the volumes', 'volumes/kubernetes.io~empty-dir/precious'],
    ['beside the parts of volumes', 'volume-subpaths/precious'],
    ['in a part of a volume', 'volume-subpaths/memory/main/1/precious'],
    ['among the plugins', 'plugins/precious'],
    ['over the whole pod', ''],
  ] as const;

  test.each(PLACES)("somebody's mount %s keeps all that is there until it is gone", async (_title, below) => {
    const ground = await aPodDir();
    const mountsBefore = await mountsIn(ground);
    const unmount = await bindPrecious(ground, below);

    await expect(removePodDir(ground.node, 'u1')).rejects.toMatchObject({
      message: expect.stringContaining('is a mount that kcri did not create') as string,
      hint: expect.stringContaining(`"umount ${join(ground.dir, below)}"`) as string,
    });
    expect(await preciousFiles(ground)).toEqual(['precious', 'precious']);
    unmount();
    expect(await mountsIn(ground)).toEqual(mountsBefore);

    await removePodDir(ground.node, 'u1');
    expect(await preciousFiles(ground)).toEqual(['precious', 'precious']);
    expect([await mountsIn(ground), await readdir(join(ground.node.rootDir, 'pods'))]).toEqual([[], []]);
  });

  test.each([
    ['None', true],
    ['HostToContainer', true],
    ['Bidirectional', false],
  ] as const)(
    'with a part of a volume with %s, what the node mounted below it stays there',
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
        // The advice is good: what is unmounted here is not unmounted there.
        execFileSync('umount', [join(dir, 'volume-subpaths/host/main/7/disk')]);
        await removePodDir(node, 'u1');
      }
      expect(existsSync(dir)).toBe(false);
      expect(await readFile(join(host, 'part/disk/file'), 'utf8')).toBe('precious');
    },
  );

  test('nothing is unmounted where a container has made a name lead meanwhile', async () => {
    const {node, dir, precious} = await aPodDir();
    const host = join(await temporaryDirectory(), 'host');
    await mkdir(join(host, 'part/way/disk'), {recursive: true});
    execFileSync('mount', ['--bind', '--make-shared', host, host]);
    onTestFinished(async () => {
      await unmountBelow(host);
      await unmountBelow(precious);
    });
    const propagation = 'HostToContainer' as const;
    const mount = {index: 7, volumeName: 'host', volumePath: host, path: 'part', propagation};
    await bindSubPaths(node, {podUid: 'u1', containerName: 'main'}, [mount]);
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', join(host, 'part/way/disk')]);
    await mkdir(join(precious, 'disk'));
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', join(precious, 'disk')]);
    let isExchanged = false;
    const mounter = {
      ...systemMounter,
      list: async () => {
        const mounts = await systemMounter.list();
        if (!isExchanged) {
          await rename(join(host, 'part/way'), join(host, 'part/moved'));
          await symlink(precious, join(host, 'part/way'));
        }
        isExchanged = true;
        return mounts;
      },
    };

    await removePodDir(node, 'u1', mounter);

    const left = (await systemMounter.list()).map(({path}) => path);
    expect(left).toContain(join(precious, 'disk'));
    expect(left).toContain(join(host, 'part/moved/disk'));
    expect(existsSync(dir)).toBe(false);
  });

  /** Kills its own process before the N-th change of the tear-down. */
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
  const MODULES = [
    ...[
      'base/errors',
      'base/fs/files',
      'base/fs/file-handles',
      'base/fs/remove-tree',
      'base/shell-quote',
      'base/system-error-message',
    ],
    ...[
      'kubelet/contract/node-facts',
      'kubelet/managers/volumes/mounter',
      'kubelet/managers/volumes/remove-pod-dir',
    ],
  ];

  /** Removes in a process that is killed after so many changes; true when it came to its end. */
  type RemoveAndKill = (ground: Ground, afterChanges: number) => boolean;

  async function aKiller(): Promise<RemoveAndKill> {
    const scripts = await temporaryDirectory();
    await transpile(MODULES, scripts);
    return (ground, afterChanges) => removeAndKill(scripts, ground, afterChanges);
  }

  function removeAndKill(scripts: string, {node}: Ground, afterChanges: number): boolean {
    const args = ['--input-type=module', '-e', KILLED_REMOVAL, node.rootDir, String(afterChanges)];
    const {
      signal: killedBy,
      status,
      stderr,
    } = spawnSync(process.execPath, args, {cwd: scripts, encoding: 'utf8'});
    if (killedBy === null && status !== 0) throw new Error(stderr);
    return killedBy === null;
  }

  test(
    'a removal that is killed at any step is finished by the next one, and never through a mount',
    {timeout: 60_000},
    async () => {
      const kill = await aKiller();
      let steps = 0;
      for (let ended = false; !ended; steps++) {
        const ground = await aPodDir();
        ended = kill(ground, steps);
        const unmount = await bindPrecious(ground, `${DISK}/a/b`);
        await expect(removePodDir(ground.node, 'u1')).rejects.toThrow('that kcri did not create');
        unmount();
        await removePodDir(ground.node, 'u1');
        expect(await preciousFiles(ground)).toEqual(['precious', 'precious']);
        expect([await mountsIn(ground), existsSync(ground.dir)], `after ${steps} steps`).toEqual([[], false]);
      }
      expect(steps).toBeGreaterThan(15);
    },
  );
});
