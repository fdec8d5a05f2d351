import {execFileSync, spawn} from 'node:child_process';
import {existsSync} from 'node:fs';
import {chmod, mkdir, readFile, readlink, realpath, stat, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {fdPath} from '../../../src/base/fs/file-handles.js';
import {openBeneath} from '../../../src/base/fs/open-beneath.js';
import {temporaryDirectory} from '../temporary-directory.js';
import {until} from '../until.js';

/** Returns a volume filled by a container, and the directory `outside` beside it that must not be reached. */
async function aVolume(): Promise<{volume: string; outside: string}> {
  const directory = await realpath(await temporaryDirectory());
  const [volume, outside] = [join(directory, 'volume'), join(directory, 'outside')];
  await mkdir(join(volume, 'dir/deep'), {recursive: true});
  await writeFile(join(volume, 'dir/file'), 'inside');
  await mkdir(join(outside, 'dir'), {recursive: true});
  await writeFile(join(outside, 'secret'), 'secret');
  return {volume, outside};
}

/** Returns the path of the opened file according to the kernel. */
async function opened(volume: string, path: string, mode?: number): Promise<string> {
  const place = await openBeneath(volume, path, mode);
  try {
    return await readlink(fdPath(place));
  } finally {
    await place.close();
  }
}

test.each([
  ['dir/deep', 'dir/deep'],
  ['dir/file', 'dir/file'],
  ['./dir//deep/', 'dir/deep'],
  ['', ''],
  ['.', ''],
])('%j is opened beneath the directory', async (path, found) => {
  const {volume} = await aVolume();
  expect(await opened(volume, path)).toBe(join(volume, found));
});

test.each([
  ['a link in the same directory', 'dir/file'],
  ['a link into a directory', 'dir/deep/../file'],
  ['an absolute link into the volume', 'VOLUME/dir/file'],
  ['a link to a link', 'second'],
])('%s that stays beneath the directory is followed', async (_title, target) => {
  const {volume} = await aVolume();
  await symlink('dir/file', join(volume, 'second'));
  await symlink(target.replace('VOLUME', volume), join(volume, 'link'));
  expect(await opened(volume, 'link')).toBe(join(volume, 'dir/file'));
});

test.each([
  ['relative', '../outside'],
  ['absolute', 'OUTSIDE'],
  ['through the volume', 'dir/../../outside'],
  ['to a path with the name of the volume as its prefix', 'VOLUME2'],
  ['absolute with dots', 'VOLUME/../outside'],
  ['to the root', '/'],
  ['to the root of this process', '/proc/self/root'],
  ['to the path of a file descriptor', '/proc/self/fd/0'],
])('a link that leads outside is rejected: %s', async (_title, target) => {
  const {volume, outside} = await aVolume();
  await mkdir(`${volume}2`);
  await symlink(target.replace('VOLUME', volume).replace('OUTSIDE', outside), join(volume, 'link'));
  for (const path of ['link', 'link/', 'link/dir', 'dir/../link'])
    await expect(opened(volume, path, 0o755), path).rejects.toThrow('leads out of');
});

test('dot-dot in the path itself stops at the volume', async () => {
  const {volume} = await aVolume();
  await expect(opened(volume, '../outside')).rejects.toThrow('leads out of');
  await expect(opened(volume, 'dir/../../outside')).rejects.toThrow('leads out of');
});

test.each([
  ['a dangling link', 'nothing', 'no such file'],
  ['a link to itself', 'link', 'too many links'],
])('%s is an error, and nothing is created', async (_title, target, message) => {
  const {volume} = await aVolume();
  await symlink(target, join(volume, 'link'));
  await expect(opened(volume, 'link/new', 0o755)).rejects.toThrow(message);
  expect(existsSync(join(volume, 'nothing'))).toBe(false);
});

test('missing directories are created with the given mode, whatever the umask is', async () => {
  const {volume} = await aVolume();
  const before = process.umask(0o077);
  onTestFinished(() => {
    process.umask(before);
  });
  expect(await opened(volume, 'dir/new/er', 0o2770)).toBe(join(volume, 'dir/new/er'));
  for (const path of ['dir/new', 'dir/new/er'])
    expect((await stat(join(volume, path))).mode & 0o7777, path).toBe(0o2770);
});

test('missing directories are created behind a link that stays beneath, and existing ones keep their mode', async () => {
  const {volume} = await aVolume();
  await symlink('dir', join(volume, 'link'));
  await chmod(join(volume, 'dir'), 0o711);
  expect(await opened(volume, 'link/new', 0o755)).toBe(join(volume, 'dir/new'));
  expect((await stat(join(volume, 'dir'))).mode & 0o7777).toBe(0o711);
});

test('without a mode a missing directory is an error', async () => {
  const {volume} = await aVolume();
  await expect(opened(volume, 'dir/new')).rejects.toThrow(
    `opening "${volume}/dir/new": no such file or directory`,
  );
});

test('nothing can be opened below a file', async () => {
  const {volume} = await aVolume();
  await expect(opened(volume, 'dir/file/below', 0o755)).rejects.toThrow('not a directory');
});

test('a FIFO is opened without waiting for a writer', async () => {
  const {volume} = await aVolume();
  execFileSync('mkfifo', [join(volume, 'fifo')]);
  expect(await opened(volume, 'fifo')).toBe(join(volume, 'fifo'));
});

/** Replaces a directory with a link to the outside and back, in a tight loop, until it is killed. */
const SWAPPER = `
  const {renameSync, symlinkSync, writeFileSync} = require('node:fs');
  const [volume, outside] = process.argv.slice(1);
  symlinkSync(outside, volume + '/planted');
  writeFileSync(volume + '/../started', '');
  for (;;) {
    renameSync(volume + '/dir', volume + '/aside');
    renameSync(volume + '/planted', volume + '/dir');
    renameSync(volume + '/dir', volume + '/planted');
    renameSync(volume + '/aside', volume + '/dir');
  }`;

test('a directory that is constantly replaced with a link never gives access to the outside', async () => {
  const {volume, outside} = await aVolume();
  await writeFile(join(outside, 'file'), 'outside');
  const swapper = spawn(process.execPath, ['-e', SWAPPER, volume, outside], {stdio: 'ignore'});
  onTestFinished(() => {
    swapper.kill('SIGKILL');
  });
  await until(() => existsSync(join(volume, '../started')));
  const seen = {inside: 0, refused: 0};
  for (let round = 0; round < 2000; round++) {
    const place = await openBeneath(volume, 'dir/file').catch(() => undefined);
    if (place === undefined) seen.refused++;
    else {
      expect(await readFile(fdPath(place), 'utf8')).toBe('inside');
      await place.close();
      seen.inside++;
    }
  }
  expect(seen.inside).toBeGreaterThan(0);
  expect(seen.refused).toBeGreaterThan(0);
});
