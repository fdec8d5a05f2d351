import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {readTextFile} from '../../../src/base/fs/read-text-file.js';
import {temporaryDirectory} from '../temporary-directory.js';

test('an aborted read rejects with the reason of the signal', async () => {
  const file = join(await temporaryDirectory(), 'file');
  await writeFile(file, 'text');
  const reason = new Error('interrupted');
  await expect(readTextFile(file, 100, AbortSignal.abort(reason))).rejects.toBe(reason);
  expect(await readTextFile(file, 100, new AbortController().signal)).toBe('text');
});
