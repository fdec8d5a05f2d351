import {execFileSync} from 'node:child_process';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {readBoundedFile} from '../../../src/base/fs/read-bounded-file.js';
import {temporaryDirectory} from '../temporary-directory.js';

test('a file of the maximum size is read, a larger one is an error', async () => {
  const file = join(await temporaryDirectory(), 'file');
  await writeFile(file, 'x'.repeat(100_000));
  expect((await readBoundedFile(file, {mostBytes: 100_000})).length).toBe(100_000);
  await expect(readBoundedFile(file, {mostBytes: 99_999})).rejects.toThrow(`"${file}" is larger than`);
});

test('a device that never ends is an error, and an empty one has no bytes', async () => {
  await expect(readBoundedFile('/dev/zero')).rejects.toThrow('"/dev/zero" is larger than 16 MiB');
  expect((await readBoundedFile('/dev/null')).length).toBe(0);
});

test('reading a FIFO without a writer ends when the signal aborts', async () => {
  const fifo = join(await temporaryDirectory(), 'fifo');
  execFileSync('mkfifo', [fifo]);
  const interruption = new AbortController();
  const reading = readBoundedFile(fifo, {signal: interruption.signal});
  const reason = new Error('interrupted');
  interruption.abort(reason);
  await expect(reading).rejects.toBe(reason);
});

test('a pipe is read to its end', async () => {
  const fifo = join(await temporaryDirectory(), 'fifo');
  execFileSync('mkfifo', [fifo]);
  const reading = readBoundedFile(fifo);
  await writeFile(fifo, 'text');
  expect((await reading).toString()).toBe('text');
});
