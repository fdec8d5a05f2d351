import {execFileSync} from 'node:child_process';
import {mkdir, stat, symlink, writeFile} from 'node:fs/promises';
import {createServer} from 'node:net';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import type {HostPathType} from '../../../src/api/v1-volumes.js';
import {setUpHostPath} from '../../../src/kubelet/volumes/host-path.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

/** One of each kind. */
async function aZoo(): Promise<(name: string) => string> {
  const directory = await temporaryDirectory();
  const at = (name: string): string => join(directory, name);
  await mkdir(at('directory'));
  await writeFile(at('file'), 'kept');
  await symlink(at('directory'), at('link'));
  execFileSync('mkfifo', [at('fifo')]);
  const server = createServer().listen(at('socket'));
  onTestFinished(() => {
    server.close();
  });
  return (name) => (name.startsWith('/') ? name : at(name));
}

test.each<[HostPathType, string]>([
  ['', 'missing'],
  ['', 'file'],
  ['Directory', 'directory'],
  ['Directory', 'link'],
  ['DirectoryOrCreate', 'directory'],
  ['File', 'file'],
  ['File', 'fifo'],
  ['FileOrCreate', 'file'],
  ['Socket', 'socket'],
  ['CharDevice', '/dev/null'],
])('type %j takes %s', async (type, name) => {
  const at = await aZoo();
  await expect(setUpHostPath({path: at(name), type})).resolves.toBeUndefined();
});

test.each<[HostPathType, string, string]>([
  ['Directory', 'missing', 'directory'],
  ['Directory', 'file', 'directory'],
  ['DirectoryOrCreate', 'file', 'directory'],
  ['File', 'missing', 'file'],
  ['File', 'directory', 'file'],
  ['File', 'file/below', 'file'],
  ['FileOrCreate', 'directory', 'file'],
  ['Socket', 'file', 'socket file'],
  ['Socket', 'missing', 'socket file'],
  ['CharDevice', 'file', 'character device'],
  ['BlockDevice', '/dev/null', 'block device'],
])('type %s refuses %s in the words of the kubelet', async (type, name, noun) => {
  const at = await aZoo();
  await expect(setUpHostPath({path: at(name), type})).rejects.toThrow(
    `hostPath type check failed: ${at(name)} is not a ${noun}`,
  );
});

test('without a type nothing is made', async () => {
  const at = await aZoo();
  await setUpHostPath({path: at('missing')});
  await expect(stat(at('missing'))).rejects.toThrow('ENOENT');
});

test('DirectoryOrCreate makes the directory and those above it', async () => {
  const at = await aZoo();
  await setUpHostPath({path: at('new/er'), type: 'DirectoryOrCreate'});
  expect((await stat(at('new/er'))).isDirectory()).toBe(true);
});

test('what is made has the modes of the kubelet, whatever the umask is', async () => {
  const at = await aZoo();
  const before = process.umask(0o077);
  onTestFinished(() => {
    process.umask(before);
  });
  await setUpHostPath({path: at('new/er'), type: 'DirectoryOrCreate'});
  await setUpHostPath({path: at('new/file'), type: 'FileOrCreate'});
  const modes = ['new', 'new/er', 'new/file'].map(async (name) => (await stat(at(name))).mode & 0o7777);
  expect(await Promise.all(modes)).toEqual([0o755, 0o755, 0o644]);
});

test('FileOrCreate makes what a link leads to', async () => {
  const at = await aZoo();
  await symlink(at('new'), at('dangling'));
  await setUpHostPath({path: at('dangling'), type: 'FileOrCreate'});
  expect((await stat(at('new'))).isFile()).toBe(true);
});

test('FileOrCreate makes an empty file and keeps the content of one that is there', async () => {
  const at = await aZoo();
  await setUpHostPath({path: at('new'), type: 'FileOrCreate'});
  await setUpHostPath({path: at('file'), type: 'FileOrCreate'});
  expect([(await stat(at('new'))).size, (await stat(at('file'))).size]).toEqual([0, 4]);
});

test('FileOrCreate makes no directory for the file', async () => {
  const at = await aZoo();
  await expect(setUpHostPath({path: at('new/file'), type: 'FileOrCreate'})).rejects.toThrow(
    `making "${at('new/file')}": no such file or directory`,
  );
});
