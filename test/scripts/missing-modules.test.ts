import {build} from 'esbuild';
import {expect, test} from 'vitest';
import {missingModules} from '../../scripts/binary/missing-modules.mjs';

test('a module that neither the program nor its runtime contains is missing, in any form of import', async () => {
  const contents = `import 'node:fs'; import 'bun:jsc'; import 'first'; require('os');
    await import('second'); try { require('third') } catch {}`;
  const {metafile} = await build({
    stdin: {contents, resolveDir: '/'},
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['bun:*', 'first', 'second'],
    metafile: true,
    write: false,
  });
  expect(missingModules(metafile)).toEqual(['first', 'second', 'third']);
});
