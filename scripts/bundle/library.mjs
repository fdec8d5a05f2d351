import {rmSync} from 'node:fs';
import {join} from 'node:path';
import {build} from 'esbuild';

/**
 * Writes dist/library, what programs get that import kcri: the CRI client in one module, and beside it what only
 * streams need. Its types are dist/cri's.
 *
 * @param {string} root the checkout
 */
export async function bundleLibrary(root) {
  const outdir = join(root, 'dist/library');
  rmSync(outdir, {recursive: true, force: true});
  await build({
    absWorkingDir: root,
    entryPoints: {index: 'src/cri/index.ts'},
    outdir,
    bundle: true,
    splitting: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    minifySyntax: true,
    minifyWhitespace: true,
    minifyIdentifiers: true,
    // Programs see the names of errors.
    keepNames: true,
    logLevel: 'warning',
  });
}
