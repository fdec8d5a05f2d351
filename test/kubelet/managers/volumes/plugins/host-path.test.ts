import {execFileSync} from 'node:child_process';
import type * as FsPromises from 'node:fs/promises';
import {chmod, mkdir, rmdir, stat, symlink, writeFile} from 'node:fs/promises';
import {createServer} from 'node:net';
import {join} from 'node:path';
import {expect, onTestFinished, test, vi} from 'vitest';
import type {HostPathType} from '../../../../../src/api/types/v1-volumes.js';
import {setUpHostPath} from '../../../../../src/kubelet/managers/volumes/plugins/host-path.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';

// Allows a test to change files between two calls.
vi.mock('node:fs/promises', async (load) => {
  const original = await load<typeof FsPromises>();
  return {...original, mkdir: vi.fn(original.mkdir), stat: vi.fn(original.stat)};
});

/** Creates a file of each kind. */
async function createFiles(): Promise<(name: string) => string> {
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
  ['FileOrCreate', 'file'],
  ['Socket', 'socket'],
  ['CharDevice', '/dev/null'],
])('type %j accepts %s', async (type, name) => {
  const at = await createFiles();
  await expect(setUpHostPath({path: at(name), type})).resolves.toBeUndefined();
});

test.each<[HostPathType, string, string]>([
  ['Directory', 'missing', 'directory'],
  ['Directory', 'file', 'directory'],
  ['DirectoryOrCreate', 'file', 'directory'],
  ['File', 'missing', 'file'],
  ['File', 'directory', 'file'],
  ['File', 'fifo', 'file'],
  ['File', '/dev/null', 'file'],
  ['FileOrCreate', 'socket', 'file'],
  ['File', 'file/below', 'file'],
  ['FileOrCreate', 'directory', 'file'],
  ['Socket', 'file', 'socket file'],
  ['Socket', 'missing', 'socket file'],
  ['CharDevice', 'file', 'character device'],
  ['BlockDevice', '/dev/null', 'block device'],
])('type %s rejects %s with the kubelet’s message', async (type, name, noun) => {
  const at = await createFiles();
  await expect(setUpHostPath({path: at(name), type})).rejects.toThrow(
    `hostPath type check failed: ${at(name)} is not a ${noun}`,
  );
});

test('nothing is created without a type', async () => {
  const at = await createFiles();
  await setUpHostPath({path: at('missing')});
  await expect(stat(at('missing'))).rejects.toThrow('ENOENT');
});

test('DirectoryOrCreate creates the directory and its parents', async () => {
  const at = await createFiles();
  await setUpHostPath({path: at('new/er'), type: 'DirectoryOrCreate'});
  expect((await stat(at('new/er'))).isDirectory()).toBe(true);
});

test('directories and files are created with the modes of the kubelet, regardless of the umask', async () => {
  const at = await createFiles();
  const before = process.umask(0o077);
  onTestFinished(() => {
    process.umask(before);
  });
  await setUpHostPath({path: at('new/er'), type: 'DirectoryOrCreate'});
  await setUpHostPath({path: at('new/file'), type: 'FileOrCreate'});
  const modes = ['new', 'new/er', 'new/file'].map(async (name) => (await stat(at(name))).mode & 0o7777);
  expect(await Promise.all(modes)).toEqual([0o755, 0o755, 0o644]);
});

test('FileOrCreate creates the target of a dangling link', async () => {
  const at = await createFiles();
  await symlink(at('new'), at('dangling'));
  await setUpHostPath({path: at('dangling'), type: 'FileOrCreate'});
  expect((await stat(at('new'))).isFile()).toBe(true);
});

test('FileOrCreate follows a chain of links to the missing target', async () => {
  const at = await createFiles();
  await symlink('directory/next', at('dangling'));
  await symlink('../new', at('directory/next'));
  await setUpHostPath({path: at('dangling'), type: 'FileOrCreate'});
  expect((await stat(at('new'))).mode & 0o7777).toBe(0o644);
});

/** Runs a function right after the path was found missing. */
function onceMissing(change: () => Promise<void>): void {
  vi.mocked(stat).mockImplementationOnce(async () => {
    await change();
    throw Object.assign(new Error('ENOENT'), {code: 'ENOENT'});
  });
}

test('FileOrCreate does not change the target of a link that appears after the check', async () => {
  const at = await createFiles();
  await chmod(at('file'), 0o600);
  onceMissing(() => symlink(at('file'), at('raced')));
  await setUpHostPath({path: at('raced'), type: 'FileOrCreate'});
  expect((await stat(at('file'))).mode & 0o7777).toBe(0o600);
});

test('FileOrCreate does not open a FIFO that appears after the check', async () => {
  const at = await createFiles();
  onceMissing(async () => void execFileSync('mkfifo', [at('raced')]));
  await expect(setUpHostPath({path: at('raced'), type: 'FileOrCreate'})).rejects.toThrow(
    `${at('raced')} is not a file`,
  );
});

test('a file that appears after the check is checked as well', async () => {
  const at = await createFiles();
  onceMissing(async () => {
    await mkdir(at('raced'));
  });
  await expect(setUpHostPath({path: at('raced'), type: 'FileOrCreate'})).rejects.toThrow(
    `${at('raced')} is not a file`,
  );
});

test('DirectoryOrCreate does not change the target of a link that replaces the created directory', async () => {
  const at = await createFiles();
  await chmod(at('directory'), 0o700);
  vi.mocked(mkdir).mockImplementationOnce(async (path) => {
    await mkdir(path);
    await rmdir(path);
    await symlink(at('directory'), path);
    return undefined;
  });
  await expect(setUpHostPath({path: at('raced'), type: 'DirectoryOrCreate'})).rejects.toThrow(
    `mkdir ${at('raced')}: `,
  );
  expect((await stat(at('directory'))).mode & 0o7777).toBe(0o700);
});

test('FileOrCreate creates an empty file and keeps the content of an existing one', async () => {
  const at = await createFiles();
  await setUpHostPath({path: at('new'), type: 'FileOrCreate'});
  await setUpHostPath({path: at('file'), type: 'FileOrCreate'});
  expect([(await stat(at('new'))).size, (await stat(at('file'))).size]).toEqual([0, 4]);
});

test('FileOrCreate does not create the parent directory', async () => {
  const at = await createFiles();
  await expect(setUpHostPath({path: at('new/file'), type: 'FileOrCreate'})).rejects.toThrow(
    `open ${at('new/file')}: no such file or directory`,
  );
});
