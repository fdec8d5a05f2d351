import {execFileSync} from 'node:child_process';
import {mkdir, readFile, readdir, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {
  isMountPoint,
  systemMounter,
  unmountBelow,
  unmountOrder,
  type Mounter,
} from '../../../../src/kubelet/managers/volumes/mounter.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import type {MountPoint} from '../../../../src/base/fs/mount-info.js';

function mounts(...entries: readonly (readonly [number, number, string])[]): readonly MountPoint[] {
  return entries.map(([id, parentId, path]) => ({
    ...{id, parentId, path, root: '/'},
    ...{fileSystem: 'tmpfs', source: 'tmpfs', isSlave: false, isShared: false, device: '0:1'},
  }));
}

test.each([
  ['nothing', mounts([1, 0, '/'], [2, 1, '/dir2'], [3, 1, '/dirx/a']), []],
  ['the directory itself', mounts([1, 0, '/'], [2, 1, '/dir']), [2]],
  ['nested mounts before the outer ones', mounts([1, 0, '/'], [2, 1, '/dir/a'], [3, 2, '/dir/a/b']), [3, 2]],
  ['stacked mounts from the top', mounts([2, 1, '/dir/a'], [3, 2, '/dir/a'], [4, 3, '/dir/a']), [4, 3, 2]],
  [
    'the hiding mount before the hidden one',
    mounts([2, 1, '/dir/a/b'], [3, 2, '/dir/a/b/c'], [4, 1, '/dir/a']),
    [4, 3, 2],
  ],
  ['a moved mount before the one that contains it', mounts([5, 9, '/dir/a/b'], [9, 1, '/dir/a']), [5, 9]],
])('unmountOrder returns %s', (_title, all, ids) => {
  expect(unmountOrder(all, '/dir').map(({id}) => id)).toEqual(ids);
});

test('a mount that remains after its unmount is an error instead of an endless loop', async () => {
  const directory = await temporaryDirectory();
  const path = join(directory, 'volume');
  const mounter: Mounter = {
    ...systemMounter,
    list: async () => mounts([7, 1, path]),
    unmount: async () => undefined,
  };
  await expect(unmountBelow(directory, mounter)).rejects.toThrow(`"${path}" is still mounted`);
});

test('nothing is unmounted below a missing directory', async () => {
  const directory = await temporaryDirectory();
  await expect(unmountBelow(join(directory, 'none/deeper'))).resolves.toBeUndefined();
});

/** Mounting requires root. */
describe.skipIf(process.getuid?.() !== 0)('with real mounts (needs root)', () => {
  function mount(...args: readonly string[]): void {
    execFileSync('mount', args);
    // Unmounts everything that the test left mounted.
    onTestFinished(async () => {
      await unmountBelow(args.at(-1)!);
    });
  }

  test('stacked, nested and hidden mounts are unmounted, and the bound directory is kept', async () => {
    const directory = await temporaryDirectory();
    const [outside, volumes] = [join(directory, 'outside'), join(directory, 'pod/a b\\c')];
    await mkdir(outside);
    await writeFile(join(outside, 'canary'), 'alive');
    await mkdir(join(volumes, 'deep/er'), {recursive: true});
    mount('-t', 'tmpfs', 'tmpfs', join(volumes, 'deep'));
    await mkdir(join(volumes, 'deep/er'));
    mount('--bind', outside, join(volumes, 'deep/er'));
    mount('-t', 'tmpfs', 'tmpfs', join(volumes, 'deep/er'));
    mount('--bind', outside, volumes);
    await unmountBelow(join(directory, 'pod'));
    expect((await systemMounter.list()).filter(({path}) => path.startsWith(directory))).toEqual([]);
    expect(await readdir(volumes)).toEqual(['deep']);
    expect(await readFile(join(outside, 'canary'), 'utf8')).toBe('alive');
  });

  test('mounts are found through a symbolic link above the directory', async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, 'real/pod/v'), {recursive: true});
    await symlink(join(directory, 'real'), join(directory, 'link'));
    mount('-t', 'tmpfs', 'tmpfs', join(directory, 'real/pod/v'));
    expect(await isMountPoint(join(directory, 'link/pod/v'), systemMounter)).toBe(true);
    await unmountBelow(join(directory, 'link/pod'));
    expect(await isMountPoint(join(directory, 'link/pod/v'), systemMounter)).toBe(false);
  });

  test('a mount beside the directory is kept', async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, 'pod'));
    await mkdir(join(directory, 'pod2'));
    mount('-t', 'tmpfs', 'tmpfs', join(directory, 'pod2'));
    await unmountBelow(join(directory, 'pod'));
    expect(await isMountPoint(join(directory, 'pod2'), systemMounter)).toBe(true);
  });

  test('a busy mount is reported with a command that lists its users', async () => {
    const directory = await temporaryDirectory();
    const path = join(directory, 'pod/v');
    await mkdir(path, {recursive: true});
    mount('-t', 'tmpfs', 'tmpfs', path);
    const before = process.cwd();
    process.chdir(path);
    try {
      await expect(unmountBelow(join(directory, 'pod'))).rejects.toMatchObject({
        message: `unmounting "${path}": target is busy`,
        hint: `list the processes that use it with: fuser -vm ${path}`,
      });
    } finally {
      process.chdir(before);
    }
  });

  test('a failed tmpfs mount is reported with its cause', async () => {
    const path = join(await temporaryDirectory(), 'none');
    await expect(systemMounter.mount('tmpfs', path, 'size=4096')).rejects.toThrow(
      `mounting a tmpfs at "${path}": mount point does not exist`,
    );
  });
});
