import {readdirSync, rmSync} from 'node:fs';
import {basename, dirname, join} from 'node:path';
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

/**
 * Compiles a TypeScript program below test/ into the cache as CommonJS with all its packages, for scripts/faults/run-compiled.cjs.
 * Returns its path.
 *
 * @param {string} name of the directory
 * @param {string} source relative to test/
 */
export async function buildCompiledProgram(name, source) {
  const outfile = join(root, '.cache/test-programs', name, basename(source).replace(/\.ts$/, '.cjs'));
  await build({
    entryPoints: [join(root, 'test', source)],
    ...{outfile, bundle: true, platform: 'node', format: 'cjs', target: 'node20', logLevel: 'warning'},
    // In Latin-1, one byte is one character of the string that V8 gets.
    charset: 'ascii',
    define: {'import.meta.url': 'importMetaUrl'},
    banner: {js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;"},
  });
  for (const file of readdirSync(dirname(outfile)))
    if (file.startsWith(`${basename(outfile)}.`)) rmSync(join(dirname(outfile), file));
  return outfile;
}
