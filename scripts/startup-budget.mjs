/**
 * Compares what frequent commands load at start-up with test/startup-budget.json: modules of the bundle, their bytes,
 * and modules outside the bundle. Additions fail with the imports that cause them. `--update` updates the file.
 * Bundles to a separate directory, since the bundle in dist may be in use.
 */
import {execFile} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {bundle} from './bundle.mjs';
import {ENTRY} from './bundle/chunks.mjs';
import {startFakeRuntime} from './compile-fakes.mjs';
import {additions} from './startup/additions.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const FILE = join(ROOT, 'test/startup-budget.json');
const COMMANDS = {
  version: {args: () => ['version']},
  ps: {args: () => ['ps', '-a']},
  exec: {args: (id) => ['exec', '--sync', id, 'true']},
  '--help': {args: () => ['--help']},
  'ps --bogus': {args: () => ['ps', '--bogus'], exitCode: 1},
};

/** Script that runs a command line and reports the loaded chunks and external modules. */
const RUN = `
  const [loader, ...args] = process.argv.slice(1);
  const {program, loaded} = require(loader);
  program.main(args).then((exitCode) => process.stderr.write('\\n' + JSON.stringify({exitCode, ...loaded()})));
`;

async function loadedBy(folder, args, expected, endpoint) {
  const command = ['-e', RUN, join(folder, 'loader.cjs'), ...args];
  const env = {PATH: process.env.PATH, CONTAINER_RUNTIME_ENDPOINT: endpoint};
  const {stderr} = await promisify(execFile)(process.execPath, command, {env});
  const {exitCode, chunks, outside} = JSON.parse(stderr.slice(stderr.lastIndexOf('\n')));
  if (exitCode !== expected) throw new Error(`kcri ${args.join(' ')} exited with ${exitCode}: ${stderr}`);
  return {chunks: new Set(chunks), outside};
}

/** Returns the entry of a command in the file. */
function entryOf({chunks, outside}, allChunks) {
  const loaded = allChunks.filter(({name}) => chunks.has(name)).flatMap(({modules}) => [...modules]);
  return {
    bytes: loaded.reduce((sum, [, bytes]) => sum + bytes, 0),
    outside: outside.toSorted(),
    modules: loaded.map(([module]) => module).sort(),
  };
}

async function measure(folder) {
  const {chunks, inputs} = await bundle(folder);
  const runtime = await startFakeRuntime();
  const now = {};
  for (const [name, {args, exitCode = 0}] of Object.entries(COMMANDS)) {
    const loaded = await loadedBy(folder, args(runtime.containers[0].id), exitCode, runtime.endpoint);
    now[name] = entryOf(loaded, chunks);
  }
  await runtime[Symbol.asyncDispose]();
  return {inputs, now};
}

const folder = mkdtempSync(join(ROOT, 'dist/.budget-'));
const {inputs, now} = await measure(folder).finally(() => rmSync(folder, {recursive: true}));
if (process.argv.includes('--update')) {
  writeFileSync(FILE, JSON.stringify(now));
  await promisify(execFile)(process.execPath, ['node_modules/oxfmt/bin/oxfmt', FILE], {cwd: ROOT});
} else {
  const budget = JSON.parse(readFileSync(FILE, 'utf8'));
  const found = Object.keys(COMMANDS).flatMap((name) =>
    additions(budget[name], now[name], {inputs, entry: ENTRY}).map((text) => `${name}: ${text}\n`),
  );
  if (found.length > 0) {
    process.stderr.write(
      `${found.join('')}Load it lazily with import(), or accept it with: node scripts/startup-budget.mjs --update\n`,
    );
    process.exitCode = 1;
  }
}
