import {dirname, join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

/** The root of the checkout. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** Imports a compiled module by its path below dist. */
export const load = async (path) => await import(pathToFileURL(join(ROOT, 'dist', path)).href);

/** Returns a text as the cell of a Markdown table. */
export const cell = (text) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim();
