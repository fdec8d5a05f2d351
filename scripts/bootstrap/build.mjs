import {readdirSync, statSync, utimesSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {explainNoExecutable} from './executable-support.mjs';
import {ROOT, run, say, SetupError} from './run.mjs';

const DIST = join(ROOT, 'dist');
/** As old as the begin of the last build that went through: what changed meanwhile is not in it. */
const STAMP = join(DIST, '.built');
const INPUTS = [
  'man',
  'src',
  'scripts/bundle',
  'scripts/bundle.mjs',
  'scripts/binary',
  'scripts/build-binary.mjs',
  'test/cli/worker',
  'scripts/release/packages.mjs',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'node_modules/.package-lock.json',
];

/** Compiles src to dist, bundles that and makes executables of it, unless nothing has changed since the last time. */
export async function build() {
  const started = new Date();
  if (newest(INPUTS.map((input) => join(ROOT, input))) <= modifiedAt(STAMP)) return;
  say('building (tsc, then the bundle and the executable)');
  await step('tsc', ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json']);
  await step('the bundler', ['scripts/bundle.mjs']);
  if (explainNoExecutable() === undefined)
    await step('the builder of executables', ['scripts/bootstrap/build-executables.mjs']);
  writeFileSync(STAMP, '');
  utimesSync(STAMP, started, started);
}

async function step(name, args) {
  const code = await run(process.execPath, args, {quiet: true});
  if (code !== 0)
    throw new SetupError(
      `the build failed: see what ${name} says above, put that right and run the command again.`,
    );
}

function newest(paths) {
  return Math.max(...paths.flatMap((path) => [modifiedAt(path), ...belowOf(path)]));
}

/** Directories count as well: they change when a file in them comes or goes. */
function belowOf(path) {
  if (!statSync(path).isDirectory()) return [];
  return readdirSync(path, {recursive: true}).map((name) => modifiedAt(join(path, name)));
}

function modifiedAt(path) {
  return statSync(path, {throwIfNoEntry: false})?.mtimeMs ?? 0;
}
