import {basename, join} from 'node:path';
import {build, transform} from 'esbuild';
import {replacements} from './replacements.mjs';

/** The module that the bundle is entered by. */
export const ENTRY = 'src/cli/bundled/program.ts';

/**
 * The program in chunks: what always is loaded together is one, and each is loaded when it is first used.
 *
 * @typedef {object} Chunk
 * @property {string} name
 * @property {string} code a function's body, with `require` and `exports`
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
    absWorkingDir: root,
    entryPoints: [ENTRY],
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    outdir: 'dist/quick',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    write: false,
    metafile: true,
    external: [...external],
    define: {'import.meta.url': 'importMetaUrl'},
    // Class names are in what --debug shows, so only what nobody sees is made shorter.
    minifySyntax: true,
    plugins: [replacements(root, helpTexts)],
    logLevel: 'warning',
  });
  const chunks = outputFiles.map(async ({path, text}) => {
    const {inputs, imports, entryPoint} = metafile.outputs[`dist/quick/${basename(path)}`];
    return {
      name: basename(path, '.js'),
      code: await asFunctionBody(text),
      entry: entryPoint,
      modules: new Map(Object.entries(inputs).map(([file, {bytesInOutput}]) => [file, bytesInOutput])),
      imports: imports
        .filter(({kind, external: outside}) => kind === 'import-statement' && outside !== true)
        .map((imported) => basename(imported.path, '.js')),
    };
  });
  return {chunks: await Promise.all(chunks), inputs: metafile.inputs};
}

/** CommonJS, which V8 can keep compiled (vm.Script); modules can't be. */
async function asFunctionBody(text) {
  const {code} = await transform(text, {
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    minifyWhitespace: true,
    supported: {'dynamic-import': false},
  });
  return withDeferredImports(code.trim());
}

/** What esbuild makes of an import of something that is not in the bundle. */
const OUTSIDE_IMPORT = /var (import_\w+)=((?:__toESM\()?require\("(?!\.\/)[^"]+"\)(?:,1\))?);/g;

/**
 * Loads Node.js' modules and packages when something of them is used. That changes nothing but the time: none of those
 * that we import does anything when it is loaded. node:crypto alone is a third of an empty run.
 */
function withDeferredImports(code) {
  return [...code.matchAll(OUTSIDE_IMPORT)].reduce((changed, [statement, name, value]) => {
    const used = changed
      .replaceAll(new RegExp(`\\b${name}\\.`, 'g'), () => `${name}.$.`)
      .replace(statement, () => `var ${name}=deferred(()=>${value});`);
    const left = used.replaceAll(`${name}.$.`, '').match(new RegExp(`\\b${name}\\b`, 'g')) ?? [];
    if (left.length !== 1) throw new Error(`${name} is used as a whole: import its members by their names`);
    return used;
  }, code);
}
