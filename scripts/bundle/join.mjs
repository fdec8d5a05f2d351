import {build, transform} from 'esbuild';

/** Of the syntax and the modules that kcri may use. */
const PLATFORM = {platform: 'node', target: 'node20.19'};

/** What loader.cjs gives to each script, in this order. The names are nobody else's. */
const LOADERS_OWN = '$provide,$once,$load,$deferred,$here,require';

/**
 * A script for chunks that are in one file: they are in one scope, so that they need not be imported from each other. It
 * is a function, which tells of each chunk by `$provide`; a chunk runs when it is first loaded, after what it imports.
 *
 * @param {readonly import('./chunks.mjs').Chunk[]} chunks
 * @returns {Promise<string>}
 */
export async function joined(chunks) {
  const entries = chunks.map(({name}) => `$provide("${name}", () => require("./${name}.js"));`);
  const {outputFiles} = await build({
    stdin: {contents: entries.join('\n'), resolveDir: '/'},
    bundle: true,
    format: 'esm',
    ...PLATFORM,
    write: false,
    packages: 'external',
    minifySyntax: true,
    plugins: [chunkModules(new Map(chunks.map((chunk) => [chunk.name, chunk])))],
    logLevel: 'warning',
  });
  const body = await asFunctionBody(outputFiles[0].text);
  const {code} = await transform(`(function(${LOADERS_OWN}){${body}})`, {
    minifyIdentifiers: true,
    minifyWhitespace: true,
  });
  return code;
}

/** Resolves `./name.js` to chunks. */
function chunkModules(members) {
  return {
    name: 'chunk-modules',
    setup(made) {
      made.onResolve({filter: /^\.\//}, ({path, kind}) => {
        const name = path.slice(2, -3);
        if (members.has(name)) return {path: name, namespace: 'member'};
        return kind === 'import-statement' ? {path: name, namespace: 'other'} : {path, external: true};
      });
      made.onLoad({filter: /./, namespace: 'member'}, ({path}) => ({
        contents: members.get(path).text,
        resolveDir: '/',
      }));
      made.onLoad({filter: /./, namespace: 'other'}, ({path}) => ({
        contents: fromLoader(path, importedFrom(path, members)),
      }));
    },
  };
}

/** What chunks import of another one. */
function importedFrom(name, members) {
  const statements = new RegExp(`import \\{([^}]*)\\} from "\\./${name}\\.js";`, 'g');
  const clauses = [...members.values()].flatMap(({text}) => [...text.matchAll(statements)]);
  const names = clauses.flatMap(([, clause]) =>
    clause.split(',').map((part) => part.trim().split(' as ')[0]),
  );
  return new Set(names.filter((imported) => imported !== ''));
}

/** A chunk of another file, of which these are needed: what it exports never changes once it has run. */
function fromLoader(name, exports) {
  const local = (exported) => (exported === 'default' ? 'main' : exported);
  const needed = [...exports];
  return `const {${needed.map((exported) => `${exported}: ${local(exported)}`)}} = $load("./${name}.js");
    export {${needed.map((exported) => `${local(exported)} as ${exported}`)}};`;
}

/** esbuild's own way to run a chunk once. */
const ESM_HELPER = /var __esm = \(fn, res, err\) => function\(\) \{[^]*?\n\};\n/;

/** CommonJS, which V8 can keep compiled (vm.Script); modules can't be. */
async function asFunctionBody(text) {
  if (!ESM_HELPER.test(text)) throw new Error('esbuild has another way to run a chunk once');
  const {code} = await transform(withPlainExports(text.replace(ESM_HELPER, 'var __esm = $once;\n')), {
    format: 'cjs',
    ...PLATFORM,
    supported: {'dynamic-import': false},
  });
  // Chunks are ES modules: what they export is as it is imported.
  const imported = withDeferredImports(code.replaceAll(/__toESM\(require\(("\.\/[^"]+")\)\)/g, '$load($1)'));
  const {code: used} = await transform(imported, {minifySyntax: true, treeShaking: true});
  return used;
}

/** What esbuild makes for who imports all of a chunk: an object of getters. */
const EXPORTS = /^var (\w+_exports) = \{\};\n__export\(\1, (\{\n[^]*?\n\})\);$/gm;

/** Makes them plain objects, when they are asked for: what a chunk exports never changes once it has run. */
function withPlainExports(text) {
  const lazy = text.replaceAll(
    EXPORTS,
    (_, name, getters) =>
      `var ${name}, ${name}_made = () => ${name} ??= ${getters.replaceAll(': () => ', ': ')};`,
  );
  const used = lazy
    .replaceAll(/__toCommonJS\((\w+_exports)\)/g, '$1_made()')
    .replaceAll(/\((init_\w+\(\)), (\w+_exports)\)/g, '($1, $2_made())');
  if (/__export\(|__toCommonJS\(/.test(used))
    throw new Error('esbuild gives what a chunk exports in another way');
  return used;
}

/** What esbuild makes of an import of something that is not in the bundle. */
const OUTSIDE_IMPORT = /^var (import_\w+) = ((?:__toESM\()?require\("(?!\.\/)[^"]+"\)(?:, 1\))?);$/gm;

/**
 * Loads Node.js' modules and packages when something of them is used. That changes nothing but the time: none of those
 * that we import does anything when it is loaded. node:crypto alone is a third of an empty run.
 */
function withDeferredImports(code) {
  const first = new Map();
  return [...code.matchAll(OUTSIDE_IMPORT)].reduce((changed, [statement, name, value]) => {
    const known = first.get(value);
    if (known === undefined) first.set(value, name);
    const used = changed
      .replaceAll(new RegExp(`\\b${name}\\.`, 'g'), () => `${known ?? name}.$.`)
      .replace(statement, () => (known === undefined ? `var ${name} = $deferred(() => ${value});` : ''));
    const left = used.replaceAll(`${name}.$.`, '').match(new RegExp(`\\b${name}\\b`, 'g')) ?? [];
    if (left.length > 1) throw new Error(`${name} is used as a whole: import its members by their names`);
    return used;
  }, code);
}
