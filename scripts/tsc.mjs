import {spawnSync} from 'node:child_process';
import {fileURLToPath} from 'node:url';

/** The compiler. Its predecessor, `typescript`, is there for the tools that need its API, such as ESLint. */
export const TSC = fileURLToPath(new URL('../node_modules/typescript-7/bin/tsc', import.meta.url));

/** Compiles a project; prints its errors to stderr. Returns false if it has some. */
export function compile(project) {
  const {status} = spawnSync(process.execPath, [TSC, '-p', project], {stdio: ['ignore', 2, 2]});
  return status === 0;
}
