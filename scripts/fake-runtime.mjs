import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {compileFakes} from './compile-fakes.mjs';

/*
 * `npm run fake-runtime`: compiles test/fakes into .cache if it has changed, and runs it.
 */

const folder = compileFakes();
if (folder === undefined) {
  process.stderr.write('fake-runtime: test/fakes does not compile, see above\n');
  process.exit(1);
}
const {serve} = await import(pathToFileURL(join(folder, 'serve.js')).href);
process.exitCode = await serve(process.argv.slice(2));
