import {keptNames} from './kept-names.mjs';
import {replacements} from './replacements.mjs';

/** ws does without these packages, which it would look for at run time: in the executable, where kcri is called. */
const NO_ADDITIONS_TO_WS = {
  'process.env.WS_NO_BUFFER_UTIL': '"1"',
  'process.env.WS_NO_UTF_8_VALIDATE': '"1"',
};

/**
 * How esbuild makes modules of the program, whatever becomes of them: what is loaded by import() stays apart.
 *
 * @param {string} root the checkout
 * @param {ReadonlyMap<string, string>} helpTexts see replacements.mjs
 * @param {object} options
 * @param {Readonly<Record<string, string>>} options.define see esbuild
 * @param {(source: string, path: string) => string} [options.change] what else becomes of a source
 * @returns {import('esbuild').BuildOptions & {metafile: true}}
 */
export function programOptions(root, helpTexts, {define, change}) {
  return {
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    metafile: true,
    minifySyntax: true,
    define: {...NO_ADDITIONS_TO_WS, ...define},
    plugins: [replacements(root, helpTexts), keptNames(root, change)],
    logLevel: 'warning',
  };
}
