import {readdirSync, rmSync} from 'node:fs';
import {join} from 'node:path';

/** The folders of dist that aren't made by tsc. */
const MADE = /^(?:quick|library|binary|man|release)\//;
const COMPILED = /\.(?:js|d\.ts)$/;

/**
 * Removes from dist what source files that have gone were compiled to: it would be published, or be a command.
 *
 * @param {string} root the checkout
 */
export function removeOrphans(root) {
  const dist = join(root, 'dist');
  const sources = new Set(filesBelow(join(root, 'src')).map((file) => file.replace(/\.ts$/, '')));
  const compiled = filesBelow(dist).filter((file) => COMPILED.test(file) && !MADE.test(file));
  for (const file of compiled) if (!sources.has(file.replace(COMPILED, ''))) rmSync(join(dist, file));
}

/** Paths relative to the folder. */
function filesBelow(folder) {
  return readdirSync(folder, {recursive: true, withFileTypes: true})
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1));
}
