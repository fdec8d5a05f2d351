import {readdirSync} from 'node:fs';
import {join} from 'node:path';

/** The paths of all commands below src/commands, such as `runtime/up`. */
export function commandPaths(root) {
  return readdirSync(join(root, 'src/commands'), {recursive: true})
    .filter((path) => path.endsWith('.ts'))
    .map((path) => path.slice(0, -'.ts'.length))
    .sort();
}

/** All that help can be asked for: the program (no words), topics, commands. */
export function helpTopics(root) {
  const paths = commandPaths(root);
  const topics = paths.filter((path) => path.includes('/')).map((path) => path.split('/')[0]);
  return [...new Set(['', ...topics, ...paths])];
}
