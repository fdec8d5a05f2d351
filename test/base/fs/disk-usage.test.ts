import {execFileSync} from 'node:child_process';
import type * as FsPromises from 'node:fs/promises';
import {link, lstat, mkdir, readdir, realpath, symlink, truncate, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished, test, vi} from 'vitest';
import {SystemError} from '../../../src/base/errors.js';
import {diskUsage, treeUsage, type DiskUsageLimits} from '../../../src/base/fs/disk-usage.js';
import {temporaryDirectory} from '../temporary-directory.js';

// Simulates a mount whose server is unavailable. readdir would read all names at once.
vi.mock('node:fs/promises', async (load) => {
  const original = await load<typeof FsPromises>();
  return {...original, lstat: vi.fn(original.lstat), readdir: vi.fn(original.readdir)};
});

const ALL: DiskUsageLimits = {maxBytes: 1n << 40n, maxEntries: 1_000_000};
const MI = 1024 * 1024;

/** Returns the usage reported by du(1). */
function du(path: string): bigint {
  return BigInt(execFileSync('du', ['-sxB1', path], {encoding: 'utf8'}).split('\t', 1)[0]!);
}

async function aTree(): Promise<string> {
  const directory = await realpath(await temporaryDirectory());
  await mkdir(join(directory, 'tree/a/b'), {recursive: true});
  await writeFile(join(directory, 'tree/a/file'), Buffer.alloc(MI, 1));
  await writeFile(join(directory, 'tree/a/b/file'), Buffer.alloc(100_000, 1));
  return join(directory, 'tree');
}

test("the usage of a tree equals du's", async () => {
  const tree = await aTree();
  expect(await diskUsage(tree, ALL)).toBe(du(tree));
  expect(du(tree)).toBeGreaterThan(BigInt(MI));
});

test('a hard link counts once, a sparse file counts its allocated blocks, and link targets do not count', async () => {
  const tree = await aTree();
  await writeFile(join(tree, '../outside'), Buffer.alloc(8 * MI, 1));
  await link(join(tree, 'a/file'), join(tree, 'again'));
  await symlink('../outside', join(tree, 'link'));
  await symlink('/', join(tree, 'root'));
  await writeFile(join(tree, 'sparse'), '');
  await truncate(join(tree, 'sparse'), 1 << 30);
  expect(await diskUsage(tree, ALL)).toBe(du(tree));
  expect(await diskUsage(tree, ALL)).toBeLessThan(BigInt(2 * MI));
});

test('a link in place of the tree is not followed', async () => {
  const tree = await aTree();
  await symlink(tree, `${tree}-link`);
  await expect(diskUsage(`${tree}-link`, ALL)).rejects.toThrow(`opening the directory "${tree}-link"`);
});

test('a missing tree has no usage', async () => {
  expect(await diskUsage(join(await aTree(), 'none'), ALL)).toBe(0n);
});

test('the walk stops once it has found the requested size or read the requested number of entries', async () => {
  const tree = await aTree();
  for (let index = 0; index < 20; index++) await writeFile(join(tree, `file-${index}`), Buffer.alloc(MI, 1));
  const enough = await diskUsage(tree, {...ALL, maxBytes: BigInt(3 * MI)});
  expect(enough).toBeGreaterThan(BigInt(3 * MI));
  expect(enough).toBeLessThan(BigInt(6 * MI));
  expect(await diskUsage(tree, {...ALL, maxEntries: 3})).toBeLessThan(BigInt(4 * MI));
  expect(readdir).not.toHaveBeenCalled();
});

test.each(['ENOTCONN', 'EACCES', 'ESTALE', 'EMFILE'])(
  'an entry whose stat fails with %s is skipped',
  async (code) => {
    const tree = await aTree();
    const before = await diskUsage(tree, ALL);
    await writeFile(join(tree, 'stuck'), Buffer.alloc(MI, 1));
    const {lstat: real} = await vi.importActual<typeof FsPromises>('node:fs/promises');
    onTestFinished(() => void vi.mocked(lstat).mockImplementation(real));
    vi.mocked(lstat).mockImplementation(async (path) => {
      if (!String(path).endsWith('/stuck')) return await real(path);
      throw Object.assign(new Error(code), {code, errno: -1, syscall: 'lstat'});
    });
    expect(await diskUsage(tree, ALL)).toBe(before);
  },
);

test.skipIf(process.getuid?.() !== 0)('mounts below the tree do not count (needs root)', async () => {
  const tree = await aTree();
  const before = await diskUsage(tree, ALL);
  await mkdir(join(tree, 'mount'));
  execFileSync('mount', ['--bind', '/usr', join(tree, 'mount')]);
  onTestFinished(() => {
    execFileSync('umount', [join(tree, 'mount')]);
  });
  expect(await diskUsage(tree, ALL)).toBe(before);
});

test('files and directories are counted, each once', async () => {
  const tree = await aTree();
  const inodes = execFileSync('find', [tree, '-printf', '%i\\n'], {encoding: 'utf8'});
  const distinct = new Set(inodes.trim().split('\n'));
  expect((await treeUsage(tree, ALL)).inodes).toBe(BigInt(distinct.size));
});

test('a walk ends when its signal aborts', async () => {
  const reason = new SystemError('it takes too long');
  await expect(treeUsage(await aTree(), ALL, AbortSignal.abort(reason))).rejects.toBe(reason);
});
