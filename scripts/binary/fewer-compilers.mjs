import {relative} from 'node:path';

/** What each object of a list goes through. */
export const OF_LISTS = new Set([
  'src/base/compare.ts',
  'src/cli/views/containers.ts',
  'src/cli/views/images.ts',
  'src/cli/views/sandboxes.ts',
  'src/cri/codec.ts',
  'src/cri/wire.ts',
  'src/format/duration.ts',
  'src/format/id.ts',
  'src/format/size.ts',
  'src/format/table.ts',
  'src/operations/containers.ts',
  'src/operations/filters.ts',
  'src/operations/image-names.ts',
  'src/operations/images.ts',
  'src/operations/pod-labels.ts',
  'src/operations/sandboxes.ts',
]);

/**
 * Keeps the functions that lists go through from the last of Bun's compilers: it takes up to 20 ms for a function, and
 * a list of thousands is shown before that pays.
 *
 * @param {string} source a module
 * @param {string} path its file
 * @param {string} root the checkout
 */
export function withFewerCompilers(source, path, root) {
  return OF_LISTS.has(relative(root, path)) ? withoutLastCompiler(source) : source;
}

const FUNCTION = /^(?:export )?(?:async )?function (\w+)/gm;
const CLASS = /^(?:export )?class (\w+)/gm;

/** @param {string} source */
export function withoutLastCompiler(source) {
  const functions = Array.from(source.matchAll(FUNCTION), ([, name]) => name);
  const methods = Array.from(source.matchAll(CLASS), ([, name]) => `...methodsOf(${name})`);
  const helper =
    methods.length === 0
      ? ''
      : `const methodsOf = (made) => Object.values(Object.getOwnPropertyDescriptors(made.prototype))
          .flatMap(({value, get}) => value ?? get ?? []);`;
  return `import {noFTL} from 'bun:jsc';\n${source}\n${helper}\n[${[...functions, ...methods].join(', ')}].forEach(noFTL);\n`;
}
