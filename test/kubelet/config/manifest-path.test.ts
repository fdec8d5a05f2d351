import {utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {contentAt} from '../../../src/kubelet/config/manifest-path.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

const {signal} = new AbortController();

test('a manifest that looks as it did at two looks is not read once more', async () => {
  const path = join(await temporaryDirectory(), 'a.yaml');
  await writeFile(path, 'one');
  const first = await contentAt(path, signal);
  const second = await contentAt(path, signal, first);
  expect(second).toMatchObject({text: 'one'});
  expect(second).not.toBe(first);
  expect(await contentAt(path, signal, second)).toBe(second);
});

test.each<[string, (path: string) => Promise<void>]>([
  ['of another size', async (path) => writeFile(path, 'three')],
  [
    'of the same size and an older time',
    async (path) => {
      await writeFile(path, 'two');
      await utimes(path, 0, 0);
    },
  ],
])('a manifest that has become one %s is read', async (_what, change) => {
  const path = join(await temporaryDirectory(), 'a.yaml');
  await writeFile(path, 'one');
  const first = await contentAt(path, signal);
  const second = await contentAt(path, signal, first);
  await change(path);
  expect(await contentAt(path, signal, second)).not.toMatchObject({text: 'one'});
});
