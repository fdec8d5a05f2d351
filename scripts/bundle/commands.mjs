import {readdirSync} from 'node:fs';
import {join} from 'node:path';

/** Returns the paths of all commands below src/commands, such as `runtime/up`. */
export function commandPaths(root) {
  return readdirSync(join(root, 'src/commands'), {recursive: true})
    .filter((path) => path.endsWith('.ts'))
    .map((path) => path.slice(0, -'.ts'.length))
    .sort();
}

/** Returns the topics of all help texts: the program (empty), topics and commands. */
export function helpTopics(root) {
  const paths = commandPaths(root);
  const topics = paths.filter((path) => path.includes('/')).map((path) => path.split('/')[0]);
  return [...new Set(['', ...topics, ...paths])];
}
