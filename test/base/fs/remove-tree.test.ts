import {execFileSync} from 'node:child_process';
import {existsSync, writeFileSync} from 'node:fs';
import type * as FsPromises from 'node:fs/promises';
import {mkdir, readdir, readFile, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import {removeTree} from '../../../src/base/fs/remove-tree.js';
import {temporaryDirectory} from '../temporary-directory.js';

// readdir would read all names at once.
vi.mock('node:fs/promises', async (load) => {
  const original = await load<typeof FsPromises>();
  return {...original, readdir: vi.fn(original.readdir)};
});

test('a directory with more names than one batch is removed', async () => {
  const tree = join(await temporaryDirectory(), 'tree');
  await mkdir(join(tree, 'many'), {recursive: true});
  for (let index = 0; index < 2000; index++) writeFileSync(join(tree, 'many', `${index}`), '');
  vi.mocked(readdir).mockClear();
  await removeTree(tree);
  expect(existsSync(tree)).toBe(false);
  expect(readdir).not.toHaveBeenCalled();
});

test('a tree is removed with its files, links and sockets, and its siblings stay', async () => {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, 'tree/a/b'), {recursive: true});
  await writeFile(join(directory, 'tree/a/b/file'), 'x', {mode: 0o400});
  await symlink('/nowhere', join(directory, 'tree/a/dangling'));
  execFileSync('mkfifo', [join(directory, 'tree/a/pipe')]);
  await writeFile(join(directory, 'beside'), 'x');
  await removeTree(join(directory, 'tree'));
  expect(await readdir(directory)).toEqual(['beside']);
});

test('removing a missing tree has no effect', async () => {
  const directory = await temporaryDirectory();
  await removeTree(join(directory, 'none'));
  await removeTree(join(directory, 'none/deeper'));
  expect(await readdir(directory)).toEqual([]);
});

test('links out of the tree are removed, and their targets stay', async () => {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, 'tree'));
  await mkdir(join(directory, 'outside'));
  await writeFile(join(directory, 'outside/canary'), 'alive');
  await symlink(join(directory, 'outside'), join(directory, 'tree/directory'));
  await symlink(join(directory, 'outside/canary'), join(directory, 'tree/file'));
  await removeTree(join(directory, 'tree'));
  expect(await readdir(directory)).toEqual(['outside']);
  expect(await readFile(join(directory, 'outside/canary'), 'utf8')).toBe('alive');
});

test('a link in place of the tree is rejected', async () => {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, 'outside/x'), {recursive: true});
  await symlink(join(directory, 'outside'), join(directory, 'tree'));
  await expect(removeTree(join(directory, 'tree'))).rejects.toThrow(
    `opening the directory "${directory}/tree": not a directory`,
  );
  expect(await readdir(join(directory, 'outside'))).toEqual(['x']);
});

test('the path of the tree may contain a link', async () => {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, 'real/tree/a'), {recursive: true});
  await symlink(join(directory, 'real'), join(directory, 'link'));
  await removeTree(join(directory, 'link/tree'));
  expect(await readdir(join(directory, 'real'))).toEqual([]);
});

test('names that are not UTF-8 are removed', async () => {
  const directory = await temporaryDirectory();
  const name = Buffer.concat([Buffer.from(join(directory, 'tree') + '/'), Buffer.from([0xff, 0xfe, 0x0a])]);
  await mkdir(join(directory, 'tree'));
  await mkdir(name);
  await writeFile(Buffer.concat([name, Buffer.from([0x2f, 0xc3, 0x28])]), 'x');
  await removeTree(join(directory, 'tree'));
  expect(await readdir(directory)).toEqual([]);
});

test('a tree deeper than PATH_MAX is removed', async () => {
  const directory = await temporaryDirectory();
  execFileSync('perl', [
    '-e',
    'chdir shift; for (0..2999) { my $n = $_ ? "deep" : "tree"; mkdir $n; open(my $f, ">", "file") if $_; chdir $n }',
    directory,
  ]);
  await removeTree(join(directory, 'tree'));
  expect(await readdir(directory)).toEqual([]);
});

/** Only root can mount. */
describe.skipIf(process.getuid?.() !== 0)('mounts (needs root)', () => {
  function mount(...args: readonly string[]): void {
    execFileSync('mount', args);
    const target = args.at(-1)!;
    onTestFinished(() => {
      execFileSync('umount', [target]);
    });
  }

  test.each([
    [
      'another file system',
      (target: string) => {
        mount('-t', 'tmpfs', 'tmpfs', target);
      },
    ],
    [
      'a directory of the same file system',
      (target: string, outside: string) => {
        mount('--bind', outside, target);
      },
    ],
  ])('a mount of %s stops the removal before anything below it is touched', async (_title, mountOn) => {
    const directory = await temporaryDirectory();
    const [outside, target] = [join(directory, 'outside'), join(directory, 'tree/a/mounted')];
    await mkdir(outside);
    await mkdir(target, {recursive: true});
    mountOn(target, outside);
    await writeFile(join(target, 'canary'), 'alive');
    await expect(removeTree(join(directory, 'tree'))).rejects.toThrow(
      `removing "${target}": something is mounted there`,
    );
    expect(await readFile(join(target, 'canary'), 'utf8')).toBe('alive');
  });

  test('a mount on the tree itself stops the removal', async () => {
    const tree = join(await temporaryDirectory(), 'tree');
    await mkdir(tree);
    mount('-t', 'tmpfs', 'tmpfs', tree);
    await writeFile(join(tree, 'canary'), 'alive');
    await expect(removeTree(tree)).rejects.toThrow(`removing "${tree}": something is mounted there`);
    expect(await readdir(tree)).toEqual(['canary']);
  });
});
