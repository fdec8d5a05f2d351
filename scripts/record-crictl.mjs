import {dirname, join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {compile} from './tsc.mjs';

/*
 * `node scripts/record-crictl.mjs PATH-OF-CRICTL [FILE...]` runs the command lines of test/compat/cases*.ts with
 * crictl against the fake runtime, and writes the results to test/compat/recordings.
 */

const [crictl, ...only] = process.argv.slice(2);
if (crictl === undefined) {
  process.stderr.write('usage: node scripts/record-crictl.mjs PATH-OF-CRICTL [FILE...]\n');
  process.exit(1);
}
const scripts = dirname(fileURLToPath(import.meta.url));
if (!compile(join(scripts, 'record-crictl.tsconfig.json'))) process.exit(1);
const entry = join(scripts, '../.cache/record-crictl/test/compat/record.js');
const {record} = await import(pathToFileURL(entry).href);
await record(crictl, only);
