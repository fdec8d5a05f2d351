import {basename} from 'node:path';
import {build} from 'esbuild';
import {programOptions} from './program.mjs';

/** The module that the bundle is entered by. */
export const ENTRY = 'src/cli/bundled/program.ts';

/**
 * The program in chunks: what always is loaded together is one, and each is loaded when it is first used.
 *
 * @typedef {object} Chunk
 * @property {string} name
 * @property {string} text a module that imports other chunks as `./name.js`
 * @property {string | undefined} entry the module, relative to the checkout, that the chunk is there for
 * @property {ReadonlyMap<string, number>} modules their bytes, by their paths relative to the checkout
 * @property {readonly string[]} imports names of the chunks that are loaded with it
 *
 * @param {string} root the checkout
 * @param {ReadonlyMap<string, string>} helpTexts see replacements.mjs
 * @param {readonly string[]} external packages that are left where npm puts them
 * @returns {Promise<{chunks: readonly Chunk[], inputs: import('esbuild').Metafile['inputs']}>}
 */
export async function makeChunks(root, helpTexts, external) {
  const {outputFiles, metafile} = await build({
    ...programOptions(root, helpTexts, {define: {'import.meta.url': '$here.url'}}),
    entryPoints: [ENTRY],
    outdir: 'dist/quick',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    write: false,
    external: [...external],
  });
  const chunks = outputFiles.map(({path, text}) => {
    const {inputs, imports, entryPoint} = metafile.outputs[`dist/quick/${basename(path)}`];
    return {
      name: basename(path, '.js'),
      text,
      entry: entryPoint,
      modules: new Map(Object.entries(inputs).map(([file, {bytesInOutput}]) => [file, bytesInOutput])),
      imports: imports
        .filter(({kind, external: outside}) => kind === 'import-statement' && outside !== true)
        .map((imported) => basename(imported.path, '.js')),
    };
  });
  return {chunks, inputs: metafile.inputs};
}
