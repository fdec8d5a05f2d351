import {execFileSync} from 'node:child_process';
import {mkdir, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {beforeEach, expect, test} from 'vitest';
import {readEnvFile} from '../../../../src/kubelet/managers/pod-filesystem/read-env-file.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';

let volume: string;
let outside: string;

beforeEach(async () => {
  const directory = await temporaryDirectory();
  volume = join(directory, 'volume');
  outside = join(directory, 'outside');
  await mkdir(join(volume, 'sub'), {recursive: true});
  await mkdir(outside);
  await writeFile(join(outside, 'shadow'), "A='precious'");
});

async function contentOf(path: string): Promise<string> {
  const file = await readEnvFile(volume, path);
  return file.kind === 'text' ? file.content : `(${file.kind})`;
}

test('a file of the volume is read, also through links within the volume', async () => {
  await writeFile(join(volume, 'sub', 'a.env'), "A='a'");
  await symlink('sub/../sub', join(volume, 'link'));
  await symlink('link/a.env', join(volume, 'b.env'));

  for (const path of ['sub/a.env', './sub//a.env', 'link/a.env', 'b.env'])
    expect(await readEnvFile(volume, path)).toEqual({
      kind: 'text',
      path: join(volume, path),
      content: "A='a'",
    });
});

test.each([
  ['a link to a file outside', 'a.env', () => join(outside, 'shadow')],
  ['a relative link out of the volume', 'a.env', () => '../outside/shadow'],
  ['a link to a directory outside', 'a.env/shadow', () => outside],
  ['a link to itself', 'a.env', () => 'a.env'],
  ['a link through /proc', 'a.env/etc/passwd', () => '/proc/1/root'],
])('%s is rejected', async (_title, path, target) => {
  await symlink(target(), join(volume, 'a.env'));

  expect(await contentOf(path)).toBe('(unreadable)');
});

test('a path with .. is rejected', async () => {
  expect(await contentOf('../outside/shadow')).toBe('(unreadable)');
});

test('a FIFO is rejected without waiting for it', async () => {
  execFileSync('mkfifo', [join(volume, 'a.env')]);

  expect(await readEnvFile(volume, 'a.env')).toEqual({
    kind: 'unreadable',
    reason: 'not a regular file',
  });
});

test.each([
  ['sub', 'not a regular file'],
  ['none', expect.stringContaining('no such file or directory') as string],
])('%s is reported as unreadable', async (path, reason) => {
  expect(await readEnvFile(volume, path)).toEqual({kind: 'unreadable', reason});
});

test('a file is limited to 1 MiB', async () => {
  const limit = 1024 * 1024;
  await writeFile(join(volume, 'a.env'), Buffer.alloc(limit, 'x'));
  await writeFile(join(volume, 'b.env'), Buffer.alloc(limit + 1, 'x'));

  expect(await contentOf('a.env')).toHaveLength(limit);
  expect(await readEnvFile(volume, 'b.env')).toEqual({kind: 'unreadable', reason: 'it is larger than 1 MiB'});
});
