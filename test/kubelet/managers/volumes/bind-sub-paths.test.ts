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

interface Ground {
  readonly node: {readonly rootDir: string};
  readonly volume: string;
  readonly outside: string;
  /** Mounts a part of the volume and gives where. */
  readonly bind: (path: string, fields?: Partial<SubPathMount>, mounter?: Mounter) => Promise<string>;
}

/** A volume beside a directory that nothing may reach. */
async function aGround(): Promise<Ground> {
  const directory = await temporaryDirectory();
  const [rootDir, volume, outside] = ['root', 'volume', 'outside'].map((name) => join(directory, name));
  for (const made of [volume!, outside!]) await mkdir(made);
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

test('parts are mounted at places of their own', () => {
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
  ['an existing place outside', 'OUTSIDE', 'link', PREPARE],
  ['a file outside', 'OUTSIDE/secret', 'link', PREPARE],
  ['the parent', '..', 'link/outside', PREPARE],
  ['a place outside that is not there', '/no/such/place', 'link', CREATE],
  ['a new place outside', 'OUTSIDE', 'link/new', CREATE],
  ['nothing', 'nothing', 'link', CREATE],
  ["the machine's root through proc", '/proc/self/root', 'link/etc', PREPARE],
])('a planted link to %s is refused in the words of the kubelet', async (_title, target, path, message) => {
  const {volume, outside, bind, node} = await aGround();
  await symlink(target.replace('OUTSIDE', outside), join(volume, 'link'));
  await expect(bind(path)).rejects.toThrow(message);
  expect(await readdir(outside)).toEqual(['secret']);
  expect(existsSync(join(node.rootDir, 'pods/u1/volume-subpaths'))).toBe(false);
});

test('a refusal tells what is wrong as a hint', async () => {
  const {volume, outside, bind} = await aGround();
  await symlink(outside, join(volume, 'link'));
  await expect(bind('link')).rejects.toMatchObject({
    hint: `the link "${volume}/link" leads out of "${volume}"`,
  });
});

test('a file is no directory to go through', async () => {
  const {volume, bind} = await aGround();
  await writeFile(join(volume, 'file'), '');
  await expect(bind('file/below')).rejects.toThrow(PREPARE);
});

test('a volume that is not there is named as the kubelet does', async () => {
  const {volume, bind} = await aGround();
  await rmdir(volume);
  await expect(bind('a')).rejects.toThrow(`stat ${volume}: no such file or directory`);
});

/** Only root can mount. */
describe.skipIf(process.getuid?.() !== 0)('with real mounts (needs root)', () => {
  test('a directory is made with the mode of the volume and mounted', async () => {
    const {volume, bind} = await aGround();
    await chmod(volume, 0o2775);
    const target = await bind('x/y');
    await writeFile(join(target, 'file'), 'shared');
    expect(await readFile(join(volume, 'x/y/file'), 'utf8')).toBe('shared');
    for (const made of ['x', 'x/y']) expect((await stat(join(volume, made))).mode & 0o7777).toBe(0o2775);
  });

  test('a file, a FIFO and a device are mounted as what they are', async () => {
    const {volume, bind} = await aGround();
    await writeFile(join(volume, 'file'), 'content');
    execFileSync('mkfifo', [join(volume, 'fifo')]);
    execFileSync('mknod', [join(volume, 'null'), 'c', '1', '3']);
    expect(await readFile(await bind('file', {index: 0}), 'utf8')).toBe('content');
    expect((await stat(await bind('fifo', {index: 1}))).isFIFO()).toBe(true);
    expect((await stat(await bind('null', {index: 2}))).isCharacterDevice()).toBe(true);
  });

  test('links that stay in the volume are followed, as those of a ConfigMap', async () => {
    const {volume, bind} = await aGround();
    await mkdir(join(volume, '..stamp'));
    await writeFile(join(volume, '..stamp/key'), 'value');
    await symlink('..stamp', join(volume, '..data'));
    await symlink('..data/key', join(volume, 'key'));
    expect(await readFile(await bind('key'), 'utf8')).toBe('value');
  });

  test('a volume may itself be reached through a link', async () => {
    const {volume, bind} = await aGround();
    await writeFile(join(volume, 'file'), 'content');
    await symlink(volume, `${volume}-link`);
    expect(await readFile(await bind('file', {volumePath: `${volume}-link`}), 'utf8')).toBe('content');
  });

  test('what is mounted already is kept, and replaced once another thing is there', async () => {
    const {volume, bind} = await aGround();
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

  test('what a killed process left of a place is made anew', async () => {
    const {volume, bind} = await aGround();
    await writeFile(join(volume, 'file'), 'content');
    const target = await bind('file');
    await systemMounter.unmount(target);
    await rm(target);
    await mkdir(target);
    expect(await readFile(await bind('file'), 'utf8')).toBe('content');
  });

  test('a mount that shows another thing than was opened is taken down again', async () => {
    const {volume, outside, bind} = await aGround();
    await mkdir(join(volume, 'x'));
    const fooled: Mounter = {
      ...systemMounter,
      bind: async (_fd, path) => {
        execFileSync('mount', ['--bind', outside, path]);
      },
    };
    await expect(bind('x', {}, fooled)).rejects.toThrow(PREPARE);
    expect((await systemMounter.list()).filter(({path}) => path.includes('volume-subpaths/v/main'))).toEqual(
      [],
    );
    expect(await readdir(outside)).toEqual(['secret']);
  });

  test.each([
    ['None', false],
    ['HostToContainer', true],
    ['Bidirectional', true],
  ] as const)('what is mounted below the volume later is seen with %s: %s', async (propagation, seen) => {
    const {volume, bind} = await aGround();
    execFileSync('mount', ['--bind', volume, volume]);
    execFileSync('mount', ['--make-shared', volume]);
    onTestFinished(async () => {
      await unmountBelow(volume);
    });
    await mkdir(join(volume, 'x/later'), {recursive: true});
    const target = await bind('x', {propagation});
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', join(volume, 'x/later')]);
    await writeFile(join(volume, 'x/later/file'), '');
    expect(existsSync(join(target, 'later/file'))).toBe(seen);
  });
});
