import {access, mkdir, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {expect, test} from 'vitest';
import {removeOrphans} from '../../scripts/bundle/orphans.mjs';
import {temporaryDirectory} from '../base/temporary-directory.js';

test('only compiled files without a source file are removed', async () => {
  const root = await temporaryDirectory();
  const kept = [
    'src/cri/index.ts',
    'dist/cri/index.js',
    'dist/cri/index.d.ts',
    'dist/.tsbuildinfo',
    'dist/quick/program.cjs',
    'dist/release/kcri.tgz',
  ];
  const orphans = ['dist/cri/removed.js', 'dist/cri/removed.d.ts', 'dist/commands/removed/it.js'];
  for (const file of [...kept, ...orphans]) {
    await mkdir(join(root, dirname(file)), {recursive: true});
    await writeFile(join(root, file), '');
  }
  removeOrphans(root);
  for (const file of kept) await access(join(root, file));
  for (const file of orphans) await expect(access(join(root, file))).rejects.toThrow('ENOENT');
});
