import {join, relative} from 'node:path';

/** Namespace of the modules that this plugin adds. */
const NAMESPACE = 'shared-chunks';
/** Import specifier of the module that such a module stands for. */
const TARGET = 'target';

/**
 * Returns an esbuild plugin that groups shared code into few chunks. esbuild puts two modules into one chunk when the
 * same entry points and import()s reach both. Here every module loaded by import() also reaches `start`, and all but
 * those in `startOnly` reach `common`, and all but those in `withoutLists` reach `lists`, too, so that their dependencies form
 * one chunk each instead of about fifty. Those in `lists` do not reach each other: a list evaluates no other list.
 *
 * @param {string} root the checkout
 * @param {object} groups paths relative to the checkout
 * @param {string} groups.start the module that every run loads
 * @param {readonly string[]} groups.common modules that most commands need
 * @param {readonly string[]} groups.lists modules that most other commands need
 * @param {readonly string[]} groups.startOnly modules loaded by import() that do not need `common`
 * @param {readonly string[]} groups.withoutLists modules loaded by import() that do not need `lists`
 * @param {{of: readonly string[], modules: readonly string[]}} groups.parts modules loaded by import() after those that they
 *   are parts of, which they reach therefore
 * @returns {import('esbuild').Plugin}
 */
export function sharedChunks(root, {start, common, lists, startOnly, withoutLists, parts}) {
  const importAll = (modules) =>
    modules.map((file) => `import ${JSON.stringify(join(root, file))};\n`).join('');
  const isOneOf = (files, path) => files.some((file) => path === join(root, file));
  const sharedWith = ({path, namespace}) => {
    if (namespace === 'help' || isOneOf(startOnly, path)) return [start];
    if (isOneOf(parts.modules, path)) return [start, ...common, ...parts.of];
    return [start, ...common, ...(isOneOf([...common, ...lists, ...withoutLists], path) ? [] : lists)];
  };
  const hasDefault = ({path, namespace}) =>
    namespace === 'help' || path.startsWith(join(root, 'src/commands/'));
  return {
    name: NAMESPACE,
    setup(build) {
      build.onResolve({filter: /./}, async ({path, kind, resolveDir, importer, namespace, pluginData}) => {
        if (namespace === NAMESPACE && path === TARGET) return pluginData;
        if (kind !== 'dynamic-import' || pluginData?.isResolving) return undefined;
        // A package does not need the program; a CommonJS one would make esbuild wrap all modules of it.
        if (importer.includes('/node_modules/')) return undefined;
        const options = {kind, resolveDir, importer, namespace, pluginData: {isResolving: true}};
        const target = await build.resolve(path, options);
        if (target.external || target.errors.length > 0) return target;
        const name = target.namespace === 'file' ? relative(root, target.path) : target.path;
        return {
          path: name,
          namespace: NAMESPACE,
          pluginData: {path: target.path, namespace: target.namespace},
        };
      });
      build.onLoad({filter: /./, namespace: NAMESPACE}, ({pluginData: target}) => ({
        contents: [
          importAll(sharedWith(target)),
          `export * from "${TARGET}";\n`,
          hasDefault(target) ? `export {default} from "${TARGET}";\n` : '',
        ].join(''),
        resolveDir: root,
        pluginData: target,
      }));
    },
  };
}

/**
 * Returns the import graph of a build without the modules that the plugin added. Their importers import the modules
 * they stand for.
 *
 * @param {import('esbuild').Metafile['inputs']} inputs
 * @returns {Readonly<Record<string, {readonly imports: readonly {readonly path: string}[]}>>}
 */
export function withoutAddedModules(inputs) {
  const prefix = `${NAMESPACE}:`;
  const own = Object.entries(inputs).filter(([path]) => !path.startsWith(prefix));
  const targetOf = (path) => (path.startsWith(prefix) ? path.slice(prefix.length) : path);
  return Object.fromEntries(
    own.map(([path, {imports}]) => [path, {imports: imports.map((edge) => ({path: targetOf(edge.path)}))}]),
  );
}
