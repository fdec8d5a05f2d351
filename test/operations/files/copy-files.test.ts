import {execFileSync} from 'node:child_process';
import {
  chmod,
  chown,
  link,
  lstat,
  mkdir,
  open,
  readFile,
  readdir,
  readlink,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {parseIdMap} from '../../../src/operations/files/id-map.js';
import {ABANDONED_FILE} from '../../base/abandoned-file.js';
import {createCopyTestbed} from './copy-testbed.js';

const isRoot = process.geteuid?.() === 0;

/** Returns the names below a directory with what they are: a content, a link or a directory. */
async function tree(directory: string): Promise<Record<string, string>> {
  const names = await readdir(directory, {recursive: true});
  const entries = names.toSorted().map(async (name): Promise<[string, string]> => {
    const path = join(directory, name);
    const stats = await lstat(path);
    if (stats.isDirectory()) return [name, 'directory'];
    return [name, stats.isSymbolicLink() ? `-> ${await readlink(path)}` : await readFile(path, 'utf8')];
  });
  return Object.fromEntries(await Promise.all(entries));
}

describe('destinations as of docker cp', () => {
  const CONTENT = {'site/index': 'hello', 'site/sub/page': 'more'};
  test.each<{from: string; to: string; has?: string; gives: Record<string, string> | string}>([
    {from: 'site/index', to: 'new', gives: {new: 'hello'}},
    {from: 'site/index', to: 'old', gives: {old: 'hello'}},
    {from: 'site/index', to: 'dir', gives: {'dir/index': 'hello'}},
    {from: 'site/index', to: 'dir/', gives: {'dir/index': 'hello'}},
    {from: 'site/index', to: 'missing/', gives: 'does not exist'},
    {from: 'site/index', to: 'missing/new', gives: 'the directory of'},
    {from: 'site/index', to: 'old/', gives: 'is not a directory'},
    {from: 'site/index/', to: 'new', gives: 'is not a directory'},
    {from: 'site', to: 'new', gives: {'new/index': 'hello', 'new/sub/page': 'more'}},
    {from: 'site/.', to: 'new', gives: {'new/index': 'hello', 'new/sub/page': 'more'}},
    {from: 'site', to: 'dir', gives: {'dir/site/index': 'hello', 'dir/site/sub/page': 'more'}},
    {from: 'site/', to: 'dir/', gives: {'dir/site/index': 'hello', 'dir/site/sub/page': 'more'}},
    {from: 'site/.', to: 'dir', gives: {'dir/index': 'hello', 'dir/sub/page': 'more'}},
    {from: 'site', to: 'old', gives: 'cannot copy a directory'},
    {from: 'site/none', to: 'new', gives: 'no such file or directory'},
  ])('$from to $to gives $gives', async ({from, to, gives}) => {
    for (const isOut of [true, false]) {
      const testbed = await createCopyTestbed();
      const [source, target] = isOut ? [testbed.root, testbed.host] : [testbed.host, testbed.root];
      await mkdir(join(source, 'site/sub'), {recursive: true});
      for (const [path, text] of Object.entries(CONTENT)) await writeFile(join(source, path), text);
      await mkdir(join(target, 'dir'));
      await writeFile(join(target, 'old'), 'old');
      const copying = isOut
        ? testbed.copy(testbed.inside(`/${from}`), testbed.outside(to))
        : testbed.copy(testbed.outside(from), testbed.inside(`/${to}`));
      if (typeof gives === 'string') {
        await expect(copying).rejects.toThrow(gives);
        expect(await tree(target)).toEqual({dir: 'directory', old: 'old'});
      } else {
        await copying;
        expect(await tree(target)).toMatchObject(gives);
        expect(Object.keys(await tree(target)).filter((name) => name.includes('.kcri'))).toEqual([]);
      }
    }
  });
});

test('modes, times, links and hard links are kept', async () => {
  const {root, host, copy, inside, outside} = await createCopyTestbed();
  const [old, file] = [new Date('2020-01-02T03:04:05Z'), join(root, 'dir/file')];
  await mkdir(join(root, 'dir'));
  await writeFile(file, 'x');
  await link(file, join(root, 'dir/same'));
  await chmod(file, 0o4750);
  await symlink('/etc/shadow', join(root, 'dir/link'));
  execFileSync('touch', ['-h', '-d', '2021-01-01T00:00:00Z', join(root, 'dir/link')]);
  await utimes(file, old, old);
  await chmod(join(root, 'dir'), 0o711);
  await utimes(join(root, 'dir'), old, old);
  await copy(inside('dir'), outside('copy'));
  const [directory, copied, same] = await Promise.all(
    ['copy', 'copy/file', 'copy/same'].map((name) => stat(join(host, name))),
  );
  expect([directory?.mode, directory?.mtimeMs]).toEqual([0o40711, old.getTime()]);
  expect([copied?.mode, copied?.mtimeMs]).toEqual([isRoot ? 0o104750 : 0o100750, old.getTime()]);
  expect(copied?.ino).toBe(same?.ino);
  expect(await readlink(join(host, 'copy/link'))).toBe('/etc/shadow');
  expect((await lstat(join(host, 'copy/link'))).mtime.toISOString()).toBe('2021-01-01T00:00:00.000Z');
});

test.runIf(isRoot)(
  'owners are those inside the container, whatever its user namespace maps them to',
  async () => {
    const map = parseIdMap('         0     100000      65536\n');
    const {root, host, copy, inside, outside, warnings} = await createCopyTestbed({uid: map, gid: map});
    await writeFile(join(root, 'a'), 'a');
    await chown(join(root, 'a'), 101_000, 100_007);
    await copy(inside('a'), outside('a'));
    expect(await stat(join(host, 'a'))).toMatchObject({uid: 1000, gid: 7});
    await copy(outside('a'), inside('b'));
    expect(await stat(join(root, 'b'))).toMatchObject({uid: 101_000, gid: 100_007});
    await copy(outside('a'), inside('c'), {preserves: false});
    expect(await stat(join(root, 'c'))).toMatchObject({uid: 100_000, gid: 100_000});
    await chown(join(host, 'a'), 70_000, 70_000);
    await copy(outside('a'), inside('d'));
    expect(await stat(join(root, 'd'))).toMatchObject({uid: 100_000, gid: 100_000});
    expect(warnings).toEqual([
      'some owners could not be kept: they do not exist in the user namespace of the container',
    ]);
  },
);

test('names and link texts that are not UTF-8 are kept', async () => {
  const {root, host, copy, inside, outside} = await createCopyTestbed();
  await mkdir(join(root, 'dir'));
  const name = Buffer.from([0x66, 0xff, 0x80]);
  await writeFile(Buffer.concat([Buffer.from(`${root}/dir/`), name]), 'bytes');
  await symlink(name, Buffer.from(`${root}/dir/link`));
  await copy(inside('dir'), outside(''));
  const names = await readdir(Buffer.from(`${host}/dir`), {encoding: 'buffer'});
  expect(names.map((each) => each.toString('hex')).toSorted()).toEqual(['66ff80', '6c696e6b']);
  expect((await readlink(`${host}/dir/link`, {encoding: 'buffer'})).equals(name)).toBe(true);
});

test('sparse files stay sparse', async () => {
  const {root, host, copy, inside, outside} = await createCopyTestbed();
  const file = await open(join(root, 'disk'), 'w');
  await file.write('start');
  await file.truncate(64 * 1024 * 1024);
  await file.close();
  await copy(inside('disk'), outside('disk'));
  const {size, blocks} = await stat(join(host, 'disk'));
  expect(size).toBe(64 * 1024 * 1024);
  expect(blocks * 512).toBeLessThan(2 * 1024 * 1024);
});

test('FIFOs, sockets and devices are skipped without being opened', async () => {
  const {root, host, copy, inside, outside, skipped} = await createCopyTestbed();
  await mkdir(join(root, 'dir'));
  execFileSync('mkfifo', [join(root, 'dir/fifo')]);
  await writeFile(join(root, 'dir/file'), 'x');
  await copy(inside('dir'), outside('copy'));
  expect(await tree(join(host, 'copy'))).toEqual({file: 'x'});
  expect(skipped).toEqual(['web:dir/fifo: it is a FIFO']);
  await expect(copy(inside('dir/fifo'), outside('other'))).rejects.toThrow(
    'cannot copy "web:dir/fifo": it is a FIFO',
  );
  await expect(copy(outside('copy/file'), inside('dir/fifo'))).rejects.toThrow(
    'cannot replace "web:dir/fifo": it is a FIFO',
  );
});

test('a link of the source is followed only with -L, a slash or a dot', async () => {
  const {root, host, copy, inside, outside} = await createCopyTestbed();
  await mkdir(join(root, 'real'));
  await writeFile(join(root, 'real/file'), 'x');
  await symlink('/real', join(root, 'link'));
  await copy(inside('link'), outside('as-link'));
  expect(await readlink(join(host, 'as-link'))).toBe('/real');
  await copy(inside('link'), outside('followed'), {followsLink: true});
  await copy(inside('link/.'), outside('content'));
  await copy(inside('link/'), outside('slash'));
  for (const name of ['followed', 'content', 'slash'])
    expect(await tree(join(host, name))).toEqual({file: 'x'});
});

test('a file is written through a link of the destination', async () => {
  const {root, host, copy, inside, outside} = await createCopyTestbed();
  await mkdir(join(root, 'run'));
  await symlink('/run/resolv', join(root, 'resolv'));
  await writeFile(join(host, 'new'), 'new');
  await copy(outside('new'), inside('/resolv'));
  expect(await tree(root)).toMatchObject({resolv: '-> /run/resolv', 'run/resolv': 'new'});
});

test('a directory cannot be copied into itself', async () => {
  const {root, copy, inside} = await createCopyTestbed();
  await mkdir(join(root, 'a/b'), {recursive: true});
  await expect(copy(inside('a'), inside('a/b'))).rejects.toThrow(
    'cannot copy the directory "web:a" into itself',
  );
});

test('an interrupted copy leaves no file with partial content', async () => {
  const {root, host, copy, inside, outside} = await createCopyTestbed();
  await writeFile(join(root, 'big'), Buffer.alloc(8 * 1024 * 1024, 1));
  await writeFile(join(host, 'big'), 'old');
  const controller = new AbortController();
  const copying = copy(inside('big'), outside('big'), {
    signal: controller.signal,
    onProgress: (_files, bytes) => {
      if (bytes > 0) controller.abort(new Error('interrupted'));
    },
  });
  await expect(copying).rejects.toThrow('interrupted');
  expect(await tree(host)).toEqual({big: 'old'});
});

test('directories of a copy that fails have their modes', async () => {
  const {root, host, copy, inside, outside} = await createCopyTestbed();
  await mkdir(join(root, 'dir/sub'), {recursive: true});
  await chmod(join(root, 'dir'), 0o755);
  await writeFile(join(root, 'dir/sub/file'), 'x');
  const controller = new AbortController();
  const copying = copy(inside('dir'), outside('copy'), {
    signal: controller.signal,
    onProgress: (_files, bytes) => {
      if (bytes > 0) controller.abort(new Error('interrupted'));
    },
  });
  await expect(copying).rejects.toThrow('interrupted');
  expect((await stat(join(host, 'copy'))).mode).toBe(0o40755);
});

test('a directory does not replace a file, nor a file a directory', async () => {
  const {root, host, copy, inside, outside} = await createCopyTestbed();
  await mkdir(join(root, 'dir/x'), {recursive: true});
  await mkdir(join(host, 'dir'));
  await writeFile(join(host, 'dir/x'), 'file');
  await expect(copy(inside('dir/.'), outside('dir'))).rejects.toThrow(
    'which is not a directory, with a directory',
  );
  await expect(copy(outside('dir/.'), inside('dir'))).rejects.toThrow(
    'cannot replace the directory "web:dir/x" with a file',
  );
  expect(await tree(root)).toEqual({dir: 'directory', 'dir/x': 'directory'});
});

test('what a killed copy left is removed, also below the destination', async () => {
  const {root, host, copy, inside, outside} = await createCopyTestbed();
  await mkdir(join(host, 'dir/sub'), {recursive: true});
  await writeFile(join(host, 'dir/sub/file'), 'new');
  await mkdir(join(root, 'dir/sub'), {recursive: true});
  for (const directory of ['', 'dir', 'dir/sub'])
    await writeFile(join(root, directory, ABANDONED_FILE), 'half');
  await copy(outside('dir'), inside(''));
  expect(await tree(root)).toEqual({dir: 'directory', 'dir/sub': 'directory', 'dir/sub/file': 'new'});
});
