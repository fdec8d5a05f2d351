import {basename} from 'node:path';
import {build, transform} from 'esbuild';
import {programOptions} from './program.mjs';
import {sharedChunks, withoutAddedModules} from './shared-chunks.mjs';

/** The entry module of the bundle. */
export const ENTRY = 'src/cli/bundled/program.ts';

/** The file of the entry chunk. */
export const ENTRY_FILE = 'program.cjs';

/** Modules that most commands need, and the most frequent short commands, which form one chunk. */
const COMMON = [
  'src/cri/index.ts',
  ...['images', 'pods', 'ps', 'version'].map((name) => `src/commands/${name}.ts`),
];

/** A package that is installed anyway, since the library needs it too. */
const EXTERNAL = ['@grpc/grpc-js'];

/** Chunks are CommonJS, since V8's code cache works for scripts but not for ES modules (loader.cjs). */
const CHUNK = {
  format: 'cjs',
  platform: 'node',
  target: 'node20.19',
  supported: {'dynamic-import': false},
  minify: true,
};

/**
 * Bundles the program into chunks. Each is loaded when it is first used.
 *
 * @typedef {object} Chunk
 * @property {string} file
 * @property {string} code a CommonJS module that requires other chunks as `./FILE`
 * @property {ReadonlyMap<string, number>} modules sizes in bytes by path relative to the checkout
 *
 * @param {string} root the checkout
 * @param {ReadonlyMap<string, string>} helpTexts see replacements.mjs
 * @returns {Promise<{chunks: readonly Chunk[], inputs: ReturnType<typeof withoutAddedModules>}>}
 */
export async function makeChunks(root, helpTexts) {
  const groups = {start: ENTRY, common: COMMON, startOnly: ['src/cli/help.ts']};
  const options = programOptions(root, helpTexts);
  const {outputFiles, metafile} = await build({
    ...options,
    plugins: [sharedChunks(root, groups), ...options.plugins],
    entryPoints: [ENTRY],
    outdir: 'dist/quick',
    outExtension: {'.js': '.cjs'},
    entryNames: '[name]',
    chunkNames: '[name]-[hash]',
    write: false,
    external: EXTERNAL,
  });
  const inputs = withoutAddedModules(metafile.inputs);
  const chunks = outputFiles.map(async ({path, text}) => {
    const file = basename(path);
    const bytes = Object.entries(metafile.outputs[`dist/quick/${file}`].inputs);
    const {code} = await transform(text, {...CHUNK, logLevel: 'warning'});
    const modules = bytes.map(([module, {bytesInOutput}]) => [module, bytesInOutput]);
    return {file, code, modules: new Map(modules.filter(([module]) => module in inputs))};
  });
  return {chunks: await Promise.all(chunks), inputs};
}
