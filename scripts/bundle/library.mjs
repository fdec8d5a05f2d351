import {rmSync} from 'node:fs';
import {join} from 'node:path';
import {build} from 'esbuild';

/**
 * Writes dist/library, the package's entry point for other programs: the CRI client in one module, and a second one
 * for streams. Its types are those of dist/cri.
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
    // Error names are visible to programs.
    keepNames: true,
    logLevel: 'warning',
  });
}
