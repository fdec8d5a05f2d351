import {openTelemetryModules} from './open-telemetry-modules.mjs';
import {replacements} from './replacements.mjs';
import {terminalKitModules} from './terminal-kit-modules.mjs';

/**
 * Prevents ws from looking for optional packages at run time, which the executable would load from the current
 * directory.
 */
const NO_OPTIONAL_PACKAGES = {
  'process.env.WS_NO_BUFFER_UTIL': '"1"',
  'process.env.WS_NO_UTF_8_VALIDATE': '"1"',
};

/**
 * Returns the esbuild options of the program, for Node.js and for the executable. Modules loaded by import() are split.
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
    define: NO_OPTIONAL_PACKAGES,
    plugins: [openTelemetryModules(), terminalKitModules(), replacements(root, helpTexts)],
    logLevel: 'warning',
  };
}
