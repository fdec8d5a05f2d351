import {isBuiltin} from 'node:module';

/**
 * Returns the modules that a program imports and that neither it nor its runtime contains. A Bun executable would load
 * them from the current directory.
 *
 * @param {Pick<import('esbuild').Metafile, 'outputs'>} metafile
 * @returns {readonly string[]} names
 */
export function missingModules({outputs}) {
  const outside = Object.values(outputs).flatMap(({imports}) => imports.filter(({external}) => external));
  const names = new Set(outside.map(({path}) => path));
  return [...names].filter((name) => !isBuiltin(name) && !name.startsWith('bun:'));
}
