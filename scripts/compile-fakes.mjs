import {spawnSync} from 'node:child_process';
import {createRequire} from 'node:module';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const scripts = dirname(fileURLToPath(import.meta.url));

/** Compiles test/fakes into .cache when it has changed. Gives the folder of the modules, or undefined when it can't. */
export function compileFakes() {
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
  const project = join(scripts, 'fake-runtime.tsconfig.json');
  const compiled = spawnSync(process.execPath, [tsc, '-p', project], {stdio: ['ignore', 2, 2]});
  return compiled.status === 0 ? join(scripts, '../.cache/fake-runtime/test/fakes') : undefined;
}
