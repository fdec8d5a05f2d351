import {basename, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const root = fileURLToPath(new URL('../', import.meta.url));

/**
 * Compiles TypeScript programs below test/ into the cache, each into one file. Returns their paths in the same order.
 *
 * @param {string} name of the directory; concurrent builds need different ones
 * @param {readonly string[]} sources relative to test/
 */
export async function buildTestPrograms(name, sources) {
  const outdir = join(root, '.cache/test-programs', name);
  await build({
    entryPoints: sources.map((source) => join(root, 'test', source)),
    outdir,
    entryNames: '[name]',
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'inline',
    logLevel: 'warning',
  });
  return sources.map((source) => join(outdir, basename(source).replace(/\.ts$/, '.js')));
}
