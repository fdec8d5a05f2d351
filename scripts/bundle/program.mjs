import {keptNames} from './kept-names.mjs';
import {replacements} from './replacements.mjs';

/**
 * How esbuild makes modules of the program, whatever becomes of them: what is loaded by import() stays apart.
 *
 * @param {string} root the checkout
 * @param {ReadonlyMap<string, string>} helpTexts see replacements.mjs
 * @param {(source: string, path: string) => string} [change] what else becomes of a source
 * @returns {import('esbuild').BuildOptions & {metafile: true}}
 */
export function programOptions(root, helpTexts, change) {
  return {
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    metafile: true,
    minifySyntax: true,
    plugins: [replacements(root, helpTexts), keptNames(root, change)],
    logLevel: 'warning',
  };
}
