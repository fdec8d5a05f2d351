import {utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {readManifestFile} from '../../../src/kubelet/sources/manifest-path.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

const {signal} = new AbortController();

test('a manifest is not read a third time if its metadata did not change', async () => {
  const path = join(await temporaryDirectory(), 'a.yaml');
  await writeFile(path, 'one');
  const first = await readManifestFile(path, signal);
  const second = await readManifestFile(path, signal, first);
  expect(second).toMatchObject({text: 'one'});
  expect(second).not.toBe(first);
  expect(await readManifestFile(path, signal, second)).toBe(second);
});

test.each<[string, (path: string) => Promise<void>]>([
  ['has another size', async (path) => writeFile(path, 'three')],
  [
    'has the same size and an older time',
    async (path) => {
      await writeFile(path, 'two');
      await utimes(path, 0, 0);
    },
  ],
])('a manifest that %s is read', async (_title, change) => {
  const path = join(await temporaryDirectory(), 'a.yaml');
  await writeFile(path, 'one');
  const first = await readManifestFile(path, signal);
  const second = await readManifestFile(path, signal, first);
  await change(path);
  expect(await readManifestFile(path, signal, second)).not.toMatchObject({text: 'one'});
});
