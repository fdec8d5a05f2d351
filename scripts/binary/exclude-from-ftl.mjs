import {readFileSync} from 'node:fs';
import {relative} from 'node:path';

/** Modules that process each object of a list. */
export const LIST_MODULES = new Set([
  'src/base/compare.ts',
  'src/features/lists/container-table.ts',
  'src/features/lists/image-table.ts',
  'src/features/lists/sandbox-table.ts',
  'src/cri/codec.ts',
  'src/cri/wire-format.ts',
  'src/format/duration.ts',
  'src/format/truncate-id.ts',
  'src/format/human-size.ts',
  'src/format/table.ts',
  'src/operations/containers/list-containers.ts',
  'src/operations/filters/list-filters.ts',
  'src/operations/filters/image-matching.ts',
  'src/operations/images/list-images.ts',
  'src/operations/pods/pod-labels.ts',
  'src/operations/pods/list-sandboxes.ts',
]);

/**
 * Returns an esbuild plugin that excludes functions of list modules from FTL, the last of JavaScriptCore's compilers:
 * FTL takes up to 20 ms for a function, and a list of thousands is finished before that pays off.
 *
 * @param {string} root the checkout
 * @returns {import('esbuild').Plugin}
 */
export function excludeFromFtl(root) {
  return {
    name: 'exclude-from-ftl',
    setup(build) {
      build.onLoad({filter: /\.ts$/}, ({path}) =>
        LIST_MODULES.has(relative(root, path))
          ? {contents: withoutFtl(readFileSync(path, 'utf8')), loader: 'ts'}
          : undefined,
      );
    },
  };
}

const FUNCTION = /^(?:export )?(?:async )?function (\w+)/gm;
const CLASS = /^(?:export )?class (\w+)/gm;

/**
 * Returns the source with a call that excludes its functions and methods from FTL.
 *
 * @param {string} source
 */
export function withoutFtl(source) {
  const functions = Array.from(source.matchAll(FUNCTION), ([, name]) => name);
  const methods = Array.from(source.matchAll(CLASS), ([, name]) => `...methodsOf(${name})`);
  const helper =
    methods.length === 0
      ? ''
      : `const methodsOf = (made) => Object.values(Object.getOwnPropertyDescriptors(made.prototype))
          .flatMap(({value, get}) => value ?? get ?? []);`;
  return `import {noFTL} from 'bun:jsc';\n${source}\n${helper}\n[${[...functions, ...methods].join(', ')}].forEach(noFTL);\n`;
}
