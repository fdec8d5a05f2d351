/**
 * Writes the list of manual pages in package.json, from which npm installs them; it does not install directories. `npm run
 * build` makes the pages. With `--check` it writes nothing and exits with 1 if the list is stale.
 */
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const file = join(root, 'package.json');
const manifest = JSON.parse(readFileSync(file, 'utf8'));
const pages = readdirSync(join(root, 'dist/man')).sort();
const man = pages.map((name) => `./dist/man/${name}`);
if (JSON.stringify(manifest.man) === JSON.stringify(man)) process.exit();
if (process.argv.includes('--check')) {
  process.stderr.write('the list "man" in package.json is stale: run "npm run regenerate"\n');
  process.exitCode = 1;
} else {
  writeFileSync(file, `${JSON.stringify({...manifest, man}, null, 2)}\n`);
}
