import {createHash, randomBytes} from 'node:crypto';
import {readdir, readFile, stat, symlink, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {gzipSync} from 'node:zlib';
import {describe, expect, test} from 'vitest';
import type {FileEntry} from '../../../src/base/tar/file-entry.js';
import {encodeTarEnd, encodeTarMember} from '../../../src/base/tar/write-tar.js';
import {encodeArchive, readArchive, writeArchive} from '../../../src/cli/archive/archive-file.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

const MANIFEST = {kcri: '0.1.0', node: 'node-1', takenAt: '2026-11-27T12:00:00.000Z', leftOut: ['logs']};

test('an archive is read as it was written, by its owner only', async () => {
  const path = join(await temporaryDirectory(), 'node.tgz');
  const archive = {manifest: MANIFEST, parts: {doctor: {a: 1}, why: {pods: ['ä']}}};
  await writeArchive(path, archive);
  expect(await readArchive(path)).toEqual(archive);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(dirname(path))).toEqual(['node.tgz']);
});

test('the chunks of an archive are one', async () => {
  const path = join(await temporaryDirectory(), 'node.tgz');
  const archive = {manifest: MANIFEST, parts: {doctor: {text: randomBytes(100_000).toString('hex')}}};
  await writeFile(path, encodeArchive(archive));
  expect(await readArchive(path)).toEqual(archive);
});

test('an archive that cannot be written leaves nothing behind', async () => {
  const directory = await temporaryDirectory();
  await expect(
    writeArchive(join(directory, 'none/node.tgz'), {manifest: MANIFEST, parts: {}}),
  ).rejects.toThrow(/no such file or directory/);
  expect(await readdir(directory)).toEqual([]);
});

test('an archive for which no space is left is one error', async () => {
  const parts = {doctor: {text: randomBytes(300_000).toString('hex')}};
  await expect(writeArchive('/dev/full', {manifest: MANIFEST, parts})).rejects.toThrow(
    /no space left on device/,
  );
});

interface Member extends Partial<FileEntry> {
  readonly path: string;
  readonly text?: string;
}

async function pack(...members: readonly Member[]): Promise<string> {
  const chunks: Buffer[] = [];
  for (const {text = '', ...fields} of members) {
    const content = Buffer.from(text);
    const entry: FileEntry = {
      ...{kind: 'file', mode: 0o600, uid: 0, gid: 0, mtimeMs: 0, target: '', device: {major: 0, minor: 0}},
      size: content.length,
      content: async function* () {
        yield content;
      },
      ...fields,
    };
    for await (const chunk of encodeTarMember(entry)) chunks.push(Buffer.from(chunk));
  }
  const path = join(await temporaryDirectory(), 'node.tgz');
  await writeFile(path, gzipSync(Buffer.concat([...chunks, encodeTarEnd()])));
  return path;
}

const manifest = (fields: object = {}, text = '{}'): Member => ({
  path: 'manifest.json',
  text: JSON.stringify({
    ...{format: 'kcri node snapshot', version: 1, ...MANIFEST},
    digests: {'doctor.json': createHash('sha256').update(text).digest('hex')},
    ...fields,
  }),
});

describe('an archive is refused', () => {
  const doctor = {path: 'doctor.json', text: '{}'};
  test.each<[string, readonly Member[], RegExp]>([
    ['without a manifest', [doctor], /it has no manifest\.json/],
    ['of another program', [{path: 'manifest.json', text: '{}'}], /manifest\.json does not say so/],
    ['of a later version', [manifest({version: 2})], /version 2 of the format, and this kcri reads 1/],
    ['with a damaged part', [manifest(), {path: 'doctor.json', text: '{"a":1}'}], /doctor\.json is damaged/],
    [
      'with a part that is no object',
      [manifest({}, '[1]'), {path: 'doctor.json', text: '[1]'}],
      /is not a JSON object/,
    ],
    ['with a part twice', [manifest(), doctor, doctor], /has doctor\.json twice/],
    ['with a path out of it', [manifest(), {path: '../doctor.json'}], /not a snapshot of a node: .*\.\./],
    ['with a directory', [manifest(), {path: 'a/b.json'}], /has a file "a\/b\.json"/],
    [
      'with a symbolic link',
      [{path: 'manifest.json', kind: 'symbolic link', target: '/etc/passwd'}],
      /a symbolic link/,
    ],
    [
      'with many files',
      Array.from({length: 17}, (_, index) => ({path: `${'abcdefghijklmnopq'[index] ?? ''}.json`})),
      /more than 16 files/,
    ],
  ])('%s', async (_, members, message) => {
    await expect(readArchive(await pack(...members))).rejects.toThrow(message);
  });

  test('that is not compressed', async () => {
    const path = join(await temporaryDirectory(), 'node.tgz');
    await writeFile(path, 'text');
    await expect(readArchive(path)).rejects.toThrow(
      `${path}: it is not a snapshot of a node: incorrect header check`,
    );
  });

  test('that is cut off', async () => {
    const path = await pack(manifest(), doctor);
    await writeFile(path, (await readFile(path)).subarray(0, 100));
    await expect(readArchive(path)).rejects.toThrow(/it is not a snapshot of a node/);
  });

  test('that expands to more than memory should hold, before it is all expanded', async () => {
    const path = await pack({path: 'doctor.json', text: ' '.repeat(257 * 1024 * 1024)});
    await expect(readArchive(path)).rejects.toThrow(/its content has more than 268435456 bytes/);
  });

  test('that expands to headers without end', async () => {
    // A pax header of 512 KiB, whose key is new each time, so that none replaces another.
    const header = (index: number): Buffer => {
      const body = Buffer.alloc(512 * 1024, ' ');
      body.write(`${body.length} x${index}=`, 0);
      body.write('\n', body.length - 1);
      const block = Buffer.alloc(512);
      block.write('pax', 0);
      block.write('0000600\0', 100);
      block.write(`${body.length.toString(8).padStart(11, '0')}\0`, 124);
      block.write('        ', 148);
      block.write('g', 156);
      block.write('ustar\u000000', 257);
      const sum = block.reduce((total, byte) => total + byte, 0);
      block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
      return Buffer.concat([block, body]);
    };
    const path = join(await temporaryDirectory(), 'node.tgz');
    await writeFile(path, gzipSync(Buffer.concat(Array.from({length: 514}, (_, index) => header(index)))));
    await expect(readArchive(path)).rejects.toThrow(/its content has more than 268435456 bytes/);
  });

  test('that is a directory, or does not exist', async () => {
    const directory = await temporaryDirectory();
    await symlink('/nonexistent', join(directory, 'link'));
    await expect(readArchive(directory)).rejects.toThrow(`${directory}: illegal operation on a directory`);
    await expect(readArchive(join(directory, 'link'))).rejects.toThrow(/no such file or directory/);
  });
});
