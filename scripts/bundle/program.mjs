import {replacements} from './replacements.mjs';

/** Keeps ws from looking for optional packages at run time; the executable would look where it is called. */
const NO_ADDITIONS_TO_WS = {
  'process.env.WS_NO_BUFFER_UTIL': '"1"',
  'process.env.WS_NO_UTF_8_VALIDATE': '"1"',
};

/**
 * Returns how esbuild bundles the program, for Node.js and for the executable: what is loaded by import() stays apart.
 *
 * @param {string} root the checkout
 * @param {ReadonlyMap<string, string>} helpTexts see replacements.mjs
 * @returns {import('esbuild').BuildOptions & {metafile: true}}
 */
export function programOptions(root, helpTexts) {
  return {
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    metafile: true,
    minifySyntax: true,
    define: NO_ADDITIONS_TO_WS,
    plugins: [replacements(root, helpTexts)],
    logLevel: 'warning',
  };
}
