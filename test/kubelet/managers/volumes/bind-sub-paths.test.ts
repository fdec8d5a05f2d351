import {execFileSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {chmod, mkdir, readdir, readFile, rename, rm, rmdir, stat, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import type {SubPathMount} from '../../../../src/kubelet/contract/pod-filesystem.js';
import {systemMounter, unmountBelow, type Mounter} from '../../../../src/kubelet/managers/volumes/mounter.js';
import {bindSubPaths, subPathTargets} from '../../../../src/kubelet/managers/volumes/bind-sub-paths.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';

const OWNER = {podUid: 'u1', containerName: 'main'};

interface VolumeTestbed {
  readonly node: {readonly rootDir: string};
  readonly volume: string;
  readonly outside: string;
  /** Mounts the sub-path of the volume and resolves with its target. */
  readonly bind: (path: string, fields?: Partial<SubPathMount>, mounter?: Mounter) => Promise<string>;
}

/** Creates a volume, and a directory outside of it that must not be reached. */
async function createVolume(): Promise<VolumeTestbed> {
  const directory = await temporaryDirectory();
  const [rootDir, volume, outside] = ['root', 'volume', 'outside'].map((name) => join(directory, name));
  for (const created of [volume!, outside!]) await mkdir(created);
  await writeFile(join(outside!, 'secret'), 'secret');
  onTestFinished(async () => {
    await unmountBelow(rootDir!);
  });
  return {
    node: {rootDir: rootDir!},
    volume: volume!,
    outside: outside!,
    bind: async (path, fields, mounter) => {
      const mount = {
        index: 0,
        volumeName: 'v',
        volumePath: volume!,
        path,
        propagation: 'None',
        ...fields,
      } as const;
      return (await bindSubPaths({rootDir: rootDir!}, OWNER, [mount], mounter)).get(mount.index)!;
    },
  };
}

const PREPARE = 'failed to prepare subPath for volumeMount "v" of container "main"';
const CREATE = 'failed to create subPath directory for volumeMount "v" of container "main"';

test('each sub-path mount has its own target', () => {
  const mount = {volumeName: 'v', volumePath: '/v', path: 'x', propagation: 'None'} as const;
  expect([
    ...subPathTargets({rootDir: '/r'}, OWNER, [
      {...mount, index: 0},
      {...mount, index: 3},
    ]),
  ]).toEqual([
    [0, '/r/pods/u1/volume-subpaths/v/main/0'],
    [3, '/r/pods/u1/volume-subpaths/v/main/3'],
  ]);
});

test.each([
  ['an existing directory outside', 'OUTSIDE', 'link', PREPARE],
  ['a file outside', 'OUTSIDE/secret', 'link', PREPARE],
  ['the parent', '..', 'link/outside', PREPARE],
  ['a missing directory outside', '/no/such/place', 'link', CREATE],
  ['a new directory outside', 'OUTSIDE', 'link/new', CREATE],
  ['nothing', 'nothing', 'link', CREATE],
  ['the root of the machine through /proc', '/proc/self/root', 'link/etc', PREPARE],
])('a symbolic link to %s is rejected with the kubelet’s message', async (_title, target, path, message) => {
  const {volume, outside, bind, node} = await createVolume();
  await symlink(target.replace('OUTSIDE', outside), join(volume, 'link'));
  await expect(bind(path)).rejects.toThrow(message);
  expect(await readdir(outside)).toEqual(['secret']);
  expect(existsSync(join(node.rootDir, 'pods/u1/volume-subpaths'))).toBe(false);
});

test('the rejection of a symbolic link has a hint with its path', async () => {
  const {volume, outside, bind} = await createVolume();
  await symlink(outside, join(volume, 'link'));
  await expect(bind('link')).rejects.toMatchObject({
    hint: `the link "${volume}/link" leads out of "${volume}"`,
  });
});

test('a file in place of a parent directory is rejected', async () => {
  const {volume, bind} = await createVolume();
  await writeFile(join(volume, 'file'), '');
  await expect(bind('file/below')).rejects.toThrow(PREPARE);
});

test('a missing volume is rejected with the kubelet’s message', async () => {
  const {volume, bind} = await createVolume();
  await rmdir(volume);
  await expect(bind('a')).rejects.toThrow(`stat ${volume}: no such file or directory`);
});

/** Mounting requires root. */
describe.skipIf(process.getuid?.() !== 0)('with real mounts (needs root)', () => {
  test('a missing directory is created with the mode of the volume and mounted', async () => {
    const {volume, bind} = await createVolume();
    await chmod(volume, 0o2775);
    const target = await bind('x/y');
    await writeFile(join(target, 'file'), 'shared');
    expect(await readFile(join(volume, 'x/y/file'), 'utf8')).toBe('shared');
    for (const created of ['x', 'x/y'])
      expect((await stat(join(volume, created))).mode & 0o7777).toBe(0o2775);
  });

  test('a file, a FIFO and a device are mounted with their file type', async () => {
    const {volume, bind} = await createVolume();
    await writeFile(join(volume, 'file'), 'content');
    execFileSync('mkfifo', [join(volume, 'fifo')]);
    execFileSync('mknod', [join(volume, 'null'), 'c', '1', '3']);
    expect(await readFile(await bind('file', {index: 0}), 'utf8')).toBe('content');
    expect((await stat(await bind('fifo', {index: 1}))).isFIFO()).toBe(true);
    expect((await stat(await bind('null', {index: 2}))).isCharacterDevice()).toBe(true);
  });

  test('links within the volume are followed, as for the files of a ConfigMap', async () => {
    const {volume, bind} = await createVolume();
    await mkdir(join(volume, '..stamp'));
    await writeFile(join(volume, '..stamp/key'), 'value');
    await symlink('..stamp', join(volume, '..data'));
    await symlink('..data/key', join(volume, 'key'));
    expect(await readFile(await bind('key'), 'utf8')).toBe('value');
  });

  test('the path of the volume may contain a symbolic link', async () => {
    const {volume, bind} = await createVolume();
    await writeFile(join(volume, 'file'), 'content');
    await symlink(volume, `${volume}-link`);
    expect(await readFile(await bind('file', {volumePath: `${volume}-link`}), 'utf8')).toBe('content');
  });

  test('an existing mount is kept, and replaced when the sub-path is another file', async () => {
    const {volume, bind} = await createVolume();
    const mounts: string[] = [];
    const counting: Mounter = {
      ...systemMounter,
      bind: async (fd, path, propagation) => {
        mounts.push(path);
        await systemMounter.bind(fd, path, propagation);
      },
    };
    const target = await bind('x', {}, counting);
    await bind('x', {}, counting);
    expect(mounts).toEqual([target]);
    await rename(join(volume, 'x'), join(volume, 'old'));
    await writeFile(join(volume, 'x'), 'a file now');
    await bind('x', {}, counting);
    expect(await readFile(target, 'utf8')).toBe('a file now');
    const found = (await systemMounter.list()).filter(({path}) => path === target);
    expect(found).toHaveLength(1);
  });

  test('a target with the wrong file type is recreated', async () => {
    const {volume, bind} = await createVolume();
    await writeFile(join(volume, 'file'), 'content');
    const target = await bind('file');
    await systemMounter.unmount(target);
    await rm(target);
    await mkdir(target);
    expect(await readFile(await bind('file'), 'utf8')).toBe('content');
  });

  test('a mount of another file than the opened one is unmounted again', async () => {
    const {volume, outside, bind} = await createVolume();
    await mkdir(join(volume, 'x'));
    const misdirected: Mounter = {
      ...systemMounter,
      bind: async (_fd, path) => {
        execFileSync('mount', ['--bind', outside, path]);
      },
    };
    await expect(bind('x', {}, misdirected)).rejects.toThrow(PREPARE);
    const [podDirectory = ''] = volume.split('/volumes/');
    expect((await systemMounter.list()).filter(({path}) => path.startsWith(podDirectory))).toEqual([]);
    expect(await readdir(outside)).toEqual(['secret']);
  });

  test.each([
    ['None', false],
    ['HostToContainer', true],
    ['Bidirectional', true],
  ] as const)(
    'with propagation %s, a later mount below the volume is visible: %s',
    async (propagation, visible) => {
      const {volume, bind} = await createVolume();
      execFileSync('mount', ['--bind', volume, volume]);
      execFileSync('mount', ['--make-shared', volume]);
      onTestFinished(async () => {
        await unmountBelow(volume);
      });
      await mkdir(join(volume, 'x/later'), {recursive: true});
      const target = await bind('x', {propagation});
      execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', join(volume, 'x/later')]);
      await writeFile(join(volume, 'x/later/file'), '');
      expect(existsSync(join(target, 'later/file'))).toBe(visible);
    },
  );
});
