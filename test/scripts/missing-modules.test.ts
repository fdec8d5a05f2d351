import {build} from 'esbuild';
import {expect, test} from 'vitest';
import {missingModules} from '../../scripts/binary/missing-modules.mjs';

test('what is neither in a program nor in its runtime is missing, however it is imported', async () => {
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
