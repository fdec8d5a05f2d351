import {rmSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {explainNoExecutable} from './executable-support.mjs';
import {TSC} from '../tsc.mjs';
import {digestTree} from './digest-tree.mjs';
import {restoreExecutables, storeExecutables} from './executable-cache.mjs';
import {ROOT, run, say, SetupError} from './run.mjs';

/** Contains the digest of what dist was built from. `npm run build` removes the file, since its input may differ. */
const STAMP = join(ROOT, 'dist/.built');
/** The same for the executables. */
const EXECUTABLES_STAMP = join(ROOT, 'dist/.built-executables');

/** The program and the bundle are built from these files. */
const PROGRAM = [
  'man',
  'proto',
  'src',
  'scripts/bundle',
  'scripts/bundle.mjs',
  'scripts/release/packages.mjs',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
];
/** The executables are built from these too. */
const EXECUTABLES = ['scripts/binary', 'scripts/build-binary.mjs', 'test/cli/worker'];

/** Compiles src to dist and bundles it, unless dist was built from the same files. */
export async function build() {
  const digest = digestOf(PROGRAM);
  if (readStamp(STAMP) === digest) return;
  rmSync(STAMP, {force: true});
  say('building kcri (tsc, bundle)');
  await step('tsc', [TSC, '-p', 'tsconfig.build.json']);
  await step('the bundler', ['scripts/bundle.mjs']);
  writeFileSync(STAMP, digest);
}

/** Makes the executables for the tests from dist, unless they were made from the same files or cannot be made here. */
export async function buildExecutables() {
  const digest = digestOf([...PROGRAM, ...EXECUTABLES]);
  if (explainNoExecutable() !== undefined || readStamp(EXECUTABLES_STAMP) === digest) return;
  if (!restoreExecutables(digest)) {
    say('building the executable');
    await step('the build of the executable', ['scripts/bootstrap/build-executables.mjs'], {nice: true});
    storeExecutables(digest);
  }
  writeFileSync(EXECUTABLES_STAMP, digest);
}

function digestOf(files) {
  // The version of Node.js matters, because it renders the help texts.
  return `${process.version}-${digestTree(ROOT, files)}`;
}

async function step(name, args, options = {}) {
  const code = await run(process.execPath, args, {quiet: true, ...options});
  if (code !== 0) throw new SetupError(`the build failed: fix the errors of ${name} above and try again.`);
}

function readStamp(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  }
}

if (fileURLToPath(import.meta.url) === process.argv[1]) await build();
