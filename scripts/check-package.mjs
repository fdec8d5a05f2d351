/** Checks the result of `npm pack`: its size, unexpected and missing files, and the findings of publint. */
import {execFileSync} from 'node:child_process';
import {readdirSync, readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {publint} from 'publint';
import {formatMessage} from 'publint/utils';
import {findPackageFaults} from './release/package-faults.mjs';
import {readJson} from './release/packages.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const manifest = readJson(join(ROOT, 'package.json'));

const pack = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
  cwd: ROOT,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
});
const files = JSON.parse(pack)[0].files.map(({path, size}) => ({
  path,
  size,
  text: readFileSync(join(ROOT, path), 'latin1'),
}));
const pages = readdirSync(join(ROOT, 'dist/man')).map((name) => name.replace(/\.gz$/, ''));
const {messages} = await publint({
  pkgDir: '/package',
  strict: true,
  pack: {files: files.map(({path}) => ({name: `/package/${path}`, data: readFileSync(join(ROOT, path))}))},
});
const faults = [
  ...findPackageFaults({files, manifest, pages, root: ROOT}),
  // publint accepts no other first line of a program than /usr/bin/env, which costs each command a search for the shell.
  ...messages
    .filter(({code}) => code !== 'BIN_FILE_NOT_EXECUTABLE')
    .map((message) => `publint: ${formatMessage(message, manifest, {color: false})}`),
];
for (const fault of faults) process.stderr.write(`${fault}\n`);
if (faults.length > 0) process.exitCode = 1;
