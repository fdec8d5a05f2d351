import {isBuiltin} from 'node:module';

/**
 * What a program imports that is neither in it nor in its runtime. An executable of Bun looks for that in the folder
 * that it is called in, and runs it.
 *
 * @param {Pick<import('esbuild').Metafile, 'outputs'>} metafile
 * @returns {readonly string[]} names
 */
export function missingModules({outputs}) {
  const outside = Object.values(outputs).flatMap(({imports}) => imports.filter(({external}) => external));
  const names = new Set(outside.map(({path}) => path));
  return [...names].filter((name) => !isBuiltin(name) && !name.startsWith('bun:'));
}
