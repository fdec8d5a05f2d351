import {mkdir, rename, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {beforeEach, expect, test} from 'vitest';
import {digestTree} from '../../../scripts/bootstrap/digest-tree.mjs';
import {temporaryDirectory} from '../../base/temporary-directory.js';

let root: string;
beforeEach(async () => {
  root = await temporaryDirectory();
  await mkdir(join(root, 'src/deep'), {recursive: true});
  await writeFile(join(root, 'src/deep/a.ts'), 'a');
  await writeFile(join(root, 'package.json'), '{}');
});

const digest = (): string => digestTree(root, ['package.json', 'src']);

test('is the same for the same files, whenever they were written', async () => {
  const before = digest();
  await writeFile(join(root, 'src/deep/a.ts'), 'a');
  expect(digest()).toBe(before);
});

test.each([
  ['other content', () => writeFile(join(root, 'src/deep/a.ts'), 'b')],
  ['one more file', () => writeFile(join(root, 'src/b.ts'), '')],
  ['another name', () => rename(join(root, 'src/deep/a.ts'), join(root, 'src/deep/b.ts'))],
])('differs with %s', async (_, change) => {
  const before = digest();
  await change();
  expect(digest()).not.toBe(before);
});
