import {spawnSync} from 'node:child_process';
import {createRequire} from 'node:module';
import {dirname, join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

/* `npm run fake-runtime`: compiles test/fakes into .cache when it has changed, and runs it. */

const scripts = dirname(fileURLToPath(import.meta.url));
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
const project = join(scripts, 'fake-runtime.tsconfig.json');

const compiled = spawnSync(process.execPath, [tsc, '-p', project], {stdio: ['ignore', 2, 2]});
if (compiled.status !== 0) {
  process.stderr.write('fake-runtime: test/fakes does not compile, see above\n');
  process.exit(1);
}
const entry = join(scripts, '../.cache/fake-runtime/test/fakes/serve.js');
const {serve} = await import(pathToFileURL(entry).href);
process.exitCode = await serve(process.argv.slice(2));
