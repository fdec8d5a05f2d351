import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {ensureMode, syncDescriptor, withDescriptor, writeAll} from '../../../src/base/fs/descriptors.js';
import {countFileRequests} from '../count-file-requests.js';
import {mode, withUmask} from '../file-mode.js';
import {temporaryDirectory} from '../temporary-directory.js';

test('a new file with its mode, content and sync takes four requests to other threads, and three if the umask allows the mode', async () => {
  const directory = await temporaryDirectory();
  const create = async (name: string): Promise<number> => {
    using requests = countFileRequests();
    await withDescriptor(join(directory, name), 'wx', 0o666, async (file) => {
      await ensureMode(file, 0o666);
      await writeAll(file, Buffer.from('text'));
      await syncDescriptor(file);
    });
    return requests.count;
  };
  withUmask(0o077);
  expect(await create('a')).toBe(4);
  withUmask(0);
  expect(await create('b')).toBe(3);
  for (const name of ['a', 'b']) {
    expect(await mode(join(directory, name))).toBe(0o666);
    expect(await readFile(join(directory, name), 'utf8')).toBe('text');
  }
});

test('the descriptor is closed after a failure, and the failure is that of the work', async () => {
  const path = join(await temporaryDirectory(), 'file');
  let descriptor = -1;
  const work = withDescriptor(path, 'wx', 0o600, async (file) => {
    descriptor = file;
    return await Promise.reject(new Error('failed'));
  });
  await expect(work).rejects.toThrow('failed');
  await expect(syncDescriptor(descriptor)).rejects.toThrow('EBADF');
});
