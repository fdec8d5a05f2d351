import {rmSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {explainNoExecutable} from './executable-support.mjs';
import {digestTree} from './digest-tree.mjs';
import {restoreExecutables, storeExecutables} from './executable-cache.mjs';
import {ROOT, run, say, SetupError} from './run.mjs';

/** Contains the digest of what dist was built from. `npm run build`, which does not build all of it, removes the file. */
const STAMP = join(ROOT, 'dist/.built');

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

/** Compiles src to dist, bundles it and makes executables, unless dist was built from the same files. */
export async function build() {
  // The version of Node.js matters, because it renders the help texts.
  const digest = `${process.version}-${digestTree(ROOT, [...PROGRAM, ...EXECUTABLES])}`;
  if (readStamp() === digest) return;
  rmSync(STAMP, {force: true});
  say('building kcri (tsc, bundle, executable)');
  await step('tsc', ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json']);
  await step('the bundler', ['scripts/bundle.mjs']);
  if (explainNoExecutable() === undefined) await buildExecutables(digest);
  writeFileSync(STAMP, digest);
}

async function buildExecutables(digest) {
  if (restoreExecutables(digest)) return;
  await step('the build of the executable', ['scripts/bootstrap/build-executables.mjs']);
  storeExecutables(digest);
}

async function step(name, args) {
  const code = await run(process.execPath, args, {quiet: true});
  if (code !== 0) throw new SetupError(`the build failed: fix the errors of ${name} above and try again.`);
}

function readStamp() {
  try {
    return readFileSync(STAMP, 'utf8');
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  }
}

if (fileURLToPath(import.meta.url) === process.argv[1]) await build();
