import {mkdir, open, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {OPEN_DIRECTORY, readDirectoryEntries} from '../../../src/base/fs/file-handles.js';
import {temporaryDirectory} from '../temporary-directory.js';

test('no more names of a directory are read than requested, and names are bytes', async () => {
  const path = await temporaryDirectory();
  const names = Array.from({length: 5}, (_, index) => Buffer.from([0x61 + index, 0xff]));
  for (const name of names) await writeFile(Buffer.concat([Buffer.from(join(path, '/')), name]), '');
  await mkdir(join(path, 'folder'));
  await using directory = await open(path, OPEN_DIRECTORY);

  const all = await readDirectoryEntries(directory, 100);

  expect(all.map(({name}) => name).toSorted((one, other) => one.compare(other))).toEqual([
    ...names,
    Buffer.from('folder'),
  ]);
  expect(all.filter((entry) => entry.isDirectory()).map(({name}) => name.toString())).toEqual(['folder']);
  expect(await readDirectoryEntries(directory, 3)).toHaveLength(3);
  expect(await readDirectoryEntries(directory, 0)).toEqual([]);
});
