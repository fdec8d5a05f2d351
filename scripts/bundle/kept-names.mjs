import {readFileSync} from 'node:fs';
import {basename, dirname, join} from 'node:path';

/**
 * An esbuild plugin: keeps what people are shown of the sources and what the bundle's short names would lose. That is
 * where a daemon's log says a line, and what an error is called.
 *
 * @param {string} root the checkout
 * @param {(source: string, path: string) => string} [change] what else becomes of a source
 * @returns {import('esbuild').Plugin}
 */
export function keptNames(root, change = (source) => source) {
  return {
    name: 'kept-names',
    setup(build) {
      build.onLoad({filter: /\.ts$/}, ({path}) => {
        if (!path.startsWith(join(root, 'src/'))) return undefined;
        const source = readFileSync(path, 'utf8');
        const file = `${basename(dirname(path))}/${basename(path)}`;
        return {contents: change(withErrorNames(withPlaces(source, file)), path), loader: 'ts'};
      });
    },
  };
}

/** A call of what takes what a daemon says (src/base/logger.ts): the variables and members for it all have this name. */
const LOG_CALL = /\blogger\.(?=(?:info|error)\()/g;

/**
 * A source with the place of each call: `logger.info(…)` becomes `logger.at("kubelet/kubelet.ts:12").info(…)`.
 *
 * @param {string} source
 * @param {string} file what it is called in a log
 */
export function withPlaces(source, file) {
  let line = 1;
  let counted = 0;
  return source.replace(LOG_CALL, (call, offset) => {
    line += source.slice(counted, offset).split('\n').length - 1;
    counted = offset;
    return `${call}at(${JSON.stringify(`${file}:${line}`)}).`;
  });
}

const ERROR_CLASS = /\bclass (\w+)(?:<[^{]*?>)? extends \w*(?:Error|Fault)(?:<[^{]*>)? \{/g;

/** A source whose classes of errors have their names whatever the bundler calls them. */
export function withErrorNames(source) {
  return source.replace(ERROR_CLASS, (head, name) => `${head} static name = ${JSON.stringify(name)};`);
}
