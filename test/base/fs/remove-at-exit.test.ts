import {mkdir, readdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {removeDirectoryAtExit, removeFileAtExit} from '../../../src/base/fs/remove-at-exit.js';
import {temporaryDirectory} from '../temporary-directory.js';

test('a directory is removed with its content, and a file alone, but no directory in its place', async () => {
  const directory = await temporaryDirectory();
  const [own, file, replaced] = ['own', 'file', 'replaced'].map((name) => join(directory, name));
  for (const path of [own!, replaced!]) {
    await mkdir(path);
    await writeFile(join(path, 'content'), '');
  }
  await writeFile(file!, '');
  const removals = [removeDirectoryAtExit(own!), removeFileAtExit(file!), removeFileAtExit(replaced!)];

  for (const removal of removals) removal[Symbol.dispose]();

  expect(await readdir(directory)).toEqual(['replaced']);
  expect(await readdir(replaced!)).toEqual(['content']);
});
