import {execFileSync} from 'node:child_process';
import {link, lstat, mkdir, readFile, readdir, readlink, stat, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {encodePax} from '../../../src/base/tar/pax-header.js';
import {encodeTarEnd} from '../../../src/base/tar/write-tar.js';
import {encodeTarHeader, TAR_BLOCK, type TarHeader} from '../../../src/base/tar/tar-header.js';
import {createCopyTestbed, type CopyTestbed} from './copy-testbed.js';

/** Returns a member of an archive: a header and its content. */
function member(
  path: string,
  fields: Partial<Omit<TarHeader, 'name' | 'linkName'>> & {data?: Buffer | string; to?: string} = {},
): Buffer {
  const {data = '', to = '', ...header} = fields;
  const content = Buffer.from(data);
  const defaults = {
    type: '0',
    mode: 0o644,
    uid: 0,
    gid: 0,
    mtime: 0,
    major: 0,
    minor: 0,
    size: content.length,
  };
  return Buffer.concat([
    encodeTarHeader({...defaults, ...header, name: Buffer.from(path), linkName: Buffer.from(to)}),
    content,
    Buffer.alloc((TAR_BLOCK - (content.length % TAR_BLOCK)) % TAR_BLOCK),
  ]);
}

async function extract(testbed: CopyTestbed, ...parts: readonly Buffer[]): Promise<void> {
  async function* input(): AsyncGenerator<Buffer> {
    // Chunks that end anywhere.
    const all = Buffer.concat([...parts, encodeTarEnd()]);
    for (let at = 0; at < all.length; at += 700) yield await Promise.resolve(all.subarray(at, at + 700));
  }
  await testbed.copy({kind: 'archive', input: input()}, testbed.inside('/'));
}

async function archive({copy}: CopyTestbed, source: Parameters<CopyTestbed['copy']>[0]): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await copy(source, {
    kind: 'archive',
    write: async (chunk) => {
      chunks.push(Buffer.from(chunk));
      await Promise.resolve();
    },
  });
  return Buffer.concat(chunks);
}

test('GNU tar reads the archives, with long names, links and hard links', async () => {
  const testbed = await createCopyTestbed();
  const {root, host, inside} = testbed;
  const long = `${'d'.repeat(120)}/${'f'.repeat(200)}`;
  await mkdir(join(root, 'dir', 'd'.repeat(120)), {recursive: true});
  await writeFile(join(root, 'dir', long), 'long');
  await link(join(root, 'dir', long), join(root, 'dir/z'));
  await symlink('x'.repeat(300), join(root, 'dir/link'));
  const bytes = await archive(testbed, inside('dir'));
  execFileSync('tar', ['x', '-C', host], {input: bytes});
  expect(await readFile(join(host, 'dir', long), 'utf8')).toBe('long');
  expect((await stat(join(host, 'dir/z'))).nlink).toBe(2);
  expect(await readlink(join(host, 'dir/link'))).toBe('x'.repeat(300));
  expect(
    execFileSync('tar', ['t'], {input: await archive(testbed, inside('dir/.')), encoding: 'utf8'}),
  ).toMatch(/^\.\/\n/);
});

test.each([[['--format=gnu']], [['--format=pax']], [['--format=ustar']], [['--format=v7']]])(
  'archives of GNU tar with %j are extracted',
  async (flags) => {
    const testbed = await createCopyTestbed();
    const {root, host} = testbed;
    const name =
      flags[0] === '--format=gnu' || flags[0] === '--format=pax' ? 'n'.repeat(180) : 'n'.repeat(80);
    await mkdir(join(host, 'in/sub'), {recursive: true});
    await writeFile(join(host, 'in/sub', name), 'content');
    await link(join(host, 'in/sub', name), join(host, 'in/same'));
    await symlink('sub', join(host, 'in/link'));
    const bytes = execFileSync('tar', ['c', ...flags, '-C', join(host, 'in'), '.']);
    await extract(testbed, bytes);
    expect(await readFile(join(root, 'sub', name), 'utf8')).toBe('content');
    expect(await readFile(join(root, 'same'), 'utf8')).toBe('content');
    expect(await readlink(join(root, 'link'))).toBe('sub');
  },
);

test.each([
  ['..', [member('../x', {data: 'x'})], 'leaves the destination'],
  ['.. inside a path', [member('a/../../x', {data: 'x'})], 'leaves the destination'],
  ['a hard link to ..', [member('x', {type: '1', to: '../../etc/passwd'})], 'leaves the destination'],
  [
    'a long name with ..',
    [member('l', {type: 'L', data: '../x\0'}), member('y', {data: 'x'})],
    'leaves the destination',
  ],
  [
    'a pax name with ..',
    [member('p', {type: 'x', data: encodePax(new Map([['path', Buffer.from('../x')]]))}), member('y')],
    'leaves the destination',
  ],
  [
    'a path through a link',
    [member('out', {type: '2', to: '../host'}), member('out/x', {data: 'x'})],
    'which is not a directory',
  ],
  [
    'a path through an absolute link',
    [member('out', {type: '2', to: '/tmp'}), member('out/x', {data: 'x'})],
    'which is not a directory',
  ],
  [
    'a directory over a link',
    [member('out', {type: '2', to: '../host'}), member('out/', {type: '5'})],
    'which is not a directory',
  ],
  [
    'a hard link through a link',
    [member('out', {type: '2', to: '/etc'}), member('x', {type: '1', to: 'out/passwd'})],
    'not a directory',
  ],
  ['an extended header of gigabytes', [member('p', {type: 'x', size: 3 * 1024 ** 3})], 'extended header of'],
  ['an endless path', [member('l', {type: 'L', data: 'a/'.repeat(4000)}), member('y')], 'invalid path'],
  ['a damaged header', [Buffer.alloc(TAR_BLOCK, 'x')], 'not a tar archive'],
  [
    'a compressed archive',
    [Buffer.from('1f8b0800000000000003'.padEnd(1024, '0'), 'hex')],
    'compressed with gzip',
  ],
  ['a sparse file', [member('s', {type: 'S'})], 'sparse files'],
])('an archive with %s fails, and nothing appears outside of the destination', async (_, parts, message) => {
  const testbed = await createCopyTestbed();
  await expect(extract(testbed, ...parts)).rejects.toThrow(message);
  expect(await readdir(testbed.host)).toEqual([]);
});

test('an archive that ends too early leaves no partial file', async () => {
  const testbed = await createCopyTestbed();
  const input = (async function* (): AsyncGenerator<Buffer> {
    yield await Promise.resolve(member('whole', {data: 'x'}));
    yield member('partial', {size: 5000, data: 'x'}).subarray(0, 600);
  })();
  await expect(testbed.copy({kind: 'archive', input}, testbed.inside('/'))).rejects.toThrow('incomplete');
  expect(await readdir(testbed.root)).toEqual(['whole']);
});

test('absolute names are relative to the destination, and devices are skipped', async () => {
  const testbed = await createCopyTestbed();
  await extract(
    testbed,
    member('/etc/passwd', {data: 'x'}),
    member('disk', {type: '4', major: 8}),
    member('tty', {type: '3', major: 5}),
    member('pipe', {type: '6'}),
    member('./', {type: '5', mode: 0o700}),
  );
  expect(await readFile(join(testbed.root, 'etc/passwd'), 'utf8')).toBe('x');
  expect(testbed.skipped).toEqual([
    'web:/disk: it is a block device',
    'web:/tty: it is a character device',
    'web:/pipe: it is a FIFO',
  ]);
});

test('a file of an archive replaces a link, and never what it leads to', async () => {
  const testbed = await createCopyTestbed();
  const {host, root} = testbed;
  await writeFile(join(host, 'victim'), 'old');
  await extract(testbed, member('x', {type: '2', to: join(host, 'victim')}), member('x', {data: 'new'}));
  expect(await readFile(join(host, 'victim'), 'utf8')).toBe('old');
  expect((await lstat(join(root, 'x'))).isFile()).toBe(true);
});

test('an archive is only extracted into an existing directory', async () => {
  const testbed = await createCopyTestbed();
  const {copy, inside, root} = testbed;
  const input = (async function* (): AsyncGenerator<Buffer> {
    yield await Promise.resolve(encodeTarEnd());
  })();
  await expect(copy({kind: 'archive', input}, inside('/none'))).rejects.toThrow('"web:/none" does not exist');
  await writeFile(join(root, 'file'), '');
  await expect(copy({kind: 'archive', input}, inside('/file'))).rejects.toThrow(
    '"web:/file" is not a directory',
  );
});
