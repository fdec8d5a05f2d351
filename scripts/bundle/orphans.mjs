import {readdirSync, rmSync} from 'node:fs';
import {join} from 'node:path';

/** Directories of dist that are not compiled by tsc. */
const NOT_COMPILED = /^(?:quick|library|binary|man|release|ui)\//;
const COMPILED = /\.(?:js|d\.ts)$/;

/**
 * Removes compiled files without a source file from dist: they would be published or become commands.
 *
 * @param {string} root the checkout
 */
export function removeOrphans(root) {
  const dist = join(root, 'dist');
  const sources = new Set(filesBelow(join(root, 'src')).map((file) => file.replace(/\.ts$/, '')));
  const compiled = filesBelow(dist).filter((file) => COMPILED.test(file) && !NOT_COMPILED.test(file));
  for (const file of compiled) if (!sources.has(file.replace(COMPILED, ''))) rmSync(join(dist, file));
}

/** Returns the paths of the files below a directory, relative to it. */
function filesBelow(folder) {
  return readdirSync(folder, {recursive: true, withFileTypes: true})
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1));
}
