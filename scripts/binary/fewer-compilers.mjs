import {readFileSync} from 'node:fs';
import {relative} from 'node:path';

/** What each object of a list goes through. */
export const OF_LISTS = new Set([
  'src/base/compare.ts',
  'src/cli/output/views/container-table.ts',
  'src/cli/output/views/image-table.ts',
  'src/cli/output/views/sandbox-table.ts',
  'src/cri/codec.ts',
  'src/cri/wire-format.ts',
  'src/format/duration.ts',
  'src/format/truncate-id.ts',
  'src/format/human-size.ts',
  'src/format/table.ts',
  'src/operations/containers/list-containers.ts',
  'src/operations/filters/list-filters.ts',
  'src/operations/images/image-matching.ts',
  'src/operations/images/list-images.ts',
  'src/operations/pods/pod-labels.ts',
  'src/operations/pods/list-sandboxes.ts',
]);

/**
 * Returns an esbuild plugin that keeps the functions which lists go through from the last of Bun's compilers: it takes up
 * to 20 ms for a function, and a list of thousands is shown before that pays.
 *
 * @param {string} root the checkout
 * @returns {import('esbuild').Plugin}
 */
export function fewerCompilers(root) {
  return {
    name: 'fewer-compilers',
    setup(build) {
      build.onLoad({filter: /\.ts$/}, ({path}) =>
        OF_LISTS.has(relative(root, path))
          ? {contents: withoutLastCompiler(readFileSync(path, 'utf8')), loader: 'ts'}
          : undefined,
      );
    },
  };
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
