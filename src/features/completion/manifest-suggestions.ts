import {readdir, stat} from 'node:fs/promises';
import {homedir} from 'node:os';
import {join} from 'node:path';
import {SUGGEST_FILES} from './completion-scripts.js';

const MANIFEST = /\.(ya?ml|json)$/i;
/** Pattern of names that shells do not interpret. */
const PLAIN_NAME = /^[\w.:@%+,-]+$/;

/**
 * Lists the YAML and JSON files and the directories that complete a path. Leaves names that the shell has to quote to the
 * shell. Resolves to none for a directory that cannot be read.
 */
export async function listManifestSuggestions(cur: string): Promise<readonly {readonly word: string}[]> {
  const directory = cur.slice(0, cur.lastIndexOf('/') + 1);
  const prefix = cur.slice(directory.length);
  const path = directory.startsWith('~/') ? join(homedir(), directory.slice(2)) : directory;
  const entries = await readdir(path === '' ? '.' : path, {withFileTypes: true}).catch(() => []);
  const fitting = entries.filter(
    ({name}) => name.startsWith(prefix) && (prefix.startsWith('.') || !name.startsWith('.')),
  );
  const found = await Promise.all(
    fitting.map(async (entry) => {
      const isDirectory = entry.isSymbolicLink()
        ? await stat(join(path, entry.name)).then(
            (target) => target.isDirectory(),
            () => false,
          )
        : entry.isDirectory();
      return {name: entry.name, isDirectory};
    }),
  );
  const shown = found.filter(({name, isDirectory}) => isDirectory || MANIFEST.test(name));
  if (shown.some(({name}) => !PLAIN_NAME.test(name))) return [{word: SUGGEST_FILES}];
  return shown.map(({name, isDirectory}) => ({word: `${directory}${name}${isDirectory ? '/' : ''}`}));
}
