import {dirname, join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {compile} from './tsc.mjs';

/*
 * `node scripts/compare-crictl.mjs PATH-OF-CRICTL [PATTERN]` runs the generated command lines of
 * test/compat/generated-lines.ts and test/compat/campaign (those that match PATTERN) with crictl and with bin/kcri.js under the name crictl,
 * and prints those whose results differ.
 */

const [crictl, pattern = ''] = process.argv.slice(2);
if (crictl === undefined) {
  process.stderr.write('usage: node scripts/compare-crictl.mjs PATH-OF-CRICTL [PATTERN]\n');
  process.exit(1);
}
const scripts = dirname(fileURLToPath(import.meta.url));
if (!compile(join(scripts, 'record-crictl.tsconfig.json'))) process.exit(1);
const entry = join(scripts, '../.cache/record-crictl/test/compat/compare.js');
const {compare} = await import(pathToFileURL(entry).href);
const different = await compare(crictl, join(scripts, '../bin/kcri.js'), new RegExp(pattern));
process.exitCode = different === 0 ? 0 : 1;
