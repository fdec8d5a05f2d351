import {readdirSync, readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {gzipSync} from 'node:zlib';
import {commandPaths} from './commands.mjs';
import {CRICTL_HELP} from './help.mjs';
import {readerThreadModule} from './reader-thread.mjs';

/**
 * Returns an esbuild plugin that replaces modules in the bundle: oclif's classes by the part that kcri uses, modules
 * that read files by their present contents, and the rendering of help by its texts.
 *
 * @param {string} root the checkout
 * @param {ReadonlyMap<string, string>} helpTexts by words with slashes between
 * @returns {import('esbuild').Plugin}
 */
export function replacements(root, helpTexts) {
  const program = join(root, 'src/program');
  const sources = {
    [join(root, 'src/cli/catalog/command-files.ts')]: () => commandTable(root),
    [join(root, 'src/cli/process/program-version.ts')]: () => versionSource(root),
    [join(root, 'src/features/ui/page-files.ts')]: () => pageFilesSource(root),
    [join(root, 'src/features/record/reader/thread-source.ts')]: () => readerThreadModule(root),
    [join(program, 'help.ts')]: () => helpSource(helpTexts),
  };
  return {
    name: 'replacements',
    setup(build) {
      build.onResolve({filter: /^@oclif\/core\//}, ({path}) => ({
        path: join(program, 'bundled', `${path.slice('@oclif/core/'.length)}.ts`),
      }));
      build.onResolve({filter: /^help-text:/}, ({path}) => ({
        path: path.slice('help-text:'.length),
        namespace: 'help',
      }));
      build.onLoad({filter: /./, namespace: 'help'}, ({path}) => ({
        contents: `export default ${JSON.stringify(helpTexts.get(path === 'kcri' ? '' : path))};`,
      }));
      // esbuild's import() of a CommonJS package has only the default export.
      build.onResolve({filter: /^[a-z@]/}, ({path, kind, namespace}) =>
        kind === 'dynamic-import' && namespace === 'file' && !path.startsWith('node:')
          ? {path, namespace: 'package'}
          : undefined,
      );
      build.onLoad({filter: /./, namespace: 'package'}, async ({path}) => ({
        contents: `export {${await namesIn(path)}} from ${JSON.stringify(path)};`,
        resolveDir: root,
      }));
      // esbuild escapes no characters in regular expressions.
      build.onLoad({filter: /\/cel-js\/lib\/functions\.js$/}, ({path}) => ({
        contents: readFileSync(path, 'utf8').replaceAll('\u00b5', '\\u00b5'),
      }));
      build.onLoad(
        {filter: /\/src\/(cli|program|features\/(ui|record))\/([\w-]+\/)?[\w-]+\.ts$/},
        async ({path}) =>
          path in sources
            ? {contents: await sources[path](), loader: 'ts', resolveDir: dirname(path)}
            : undefined,
      );
    },
  };
}

async function namesIn(module) {
  return Object.keys(await import(module)).filter((name) => name !== 'module.exports');
}

/** Returns a module with the commands. A function with all of them is made sooner than a table of functions. */
function commandTable(root) {
  const paths = commandPaths(root);
  const cases = paths.map((path) => {
    const file = JSON.stringify(`../../commands/${path}.js`);
    return `case ${JSON.stringify(path)}: return import(${file});`;
  });
  return `const paths = ${JSON.stringify(paths.join(' '))}.split(' ');
    export const commandPaths = () => paths;
    export const loadCommand = async (path) => {
      switch (path) {
        ${cases.join('\n')}
      }
    };`;
}

function helpSource(helpTexts) {
  const imports = [...helpTexts.keys()].map((topic) => [topic, `help-text:${topic === '' ? 'kcri' : topic}`]);
  return `import {unpackHelp} from './bundled/help-blanks.js';
    ${lazyTable(imports)}
    export const helpText = async (words, program) => {
      const own = [${JSON.stringify(CRICTL_HELP)}, ...words].join('/');
      const topic = program === 'crictl' && own in table ? own : words.join('/');
      return unpackHelp((await table[topic]()).default, program);
    };`;
}

function lazyTable(imports) {
  const rows = imports.map(([key, file]) => `${JSON.stringify(key)}: () => import(${JSON.stringify(file)}),`);
  return `const table = {\n${rows.join('\n')}\n};`;
}

function versionSource(root) {
  const {version} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return `export const programVersion = () => ${JSON.stringify(version)};`;
}

/** Returns a module with the files of the page of `kcri ui`, which must be built (ui.mjs): executables have no files beside them. */
function pageFilesSource(root) {
  const folder = join(root, 'dist/ui');
  const files = readdirSync(folder)
    .sort()
    .map((name) => [name, gzipSync(readFileSync(join(folder, name)), {level: 9}).toString('base64')]);
  return `const files = ${JSON.stringify(files)};
    export const readPageFiles = async () => new Map(files.map(([name, text]) => [name, Buffer.from(text, 'base64')]));`;
}
