/**
 * `npm run check` runs all checks except the tests. Each check is a separate program. All of them run, and failed ones
 * are listed at the end. Arguments select checks by name: `npm run check -- imports`. `--failures=FILE` also writes the
 * failed checks and their output to a file, a JSON array of texts.
 */
import {spawnSync} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {TSC} from './tsc.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
/** With fewer modules dependency-cruiser has not read the tree, and its result is meaningless. */
const MIN_MODULES = 200;

const CHECKS = [
  ['types', ['node', TSC, '--noEmit', '-p', 'tsconfig.json']],
  ['types of the page', ['node', TSC, '--noEmit', '-p', 'src/ui-page/tsconfig.json']],
  ['lint', ['oxlint', '--deny-warnings']],
  ['format', ['oxfmt', '--check']],
  ['imports', ['depcruise', 'src', '--output-type', 'err'], checkModuleCount],
  ['dead code', ['knip', '--no-progress']],
  ['generated files', ['node', 'scripts/generate.mjs', '--check']],
  ['pause program', ['node', 'scripts/pause-program.mjs', '--check']],
  ['build', ['node', 'scripts/bootstrap/build.mjs']],
  ['package', ['node', 'scripts/check-package.mjs']],
  ['start-up budget', ['node', 'scripts/startup-budget.mjs']],
  ['manual pages', ['node', 'scripts/man.mjs', '--check']],
  ['flag table', ['node', 'scripts/flag-table.mjs', '--check']],
  ['parity table', ['node', 'scripts/parity-table.mjs', '--check']],
  ['field table', ['node', 'scripts/field-table.mjs', '--check']],
  ['configuration table', ['node', 'scripts/config-table.mjs', '--check']],
];

function checkModuleCount(output) {
  const modules = Number(/(\d+) modules/.exec(output)?.[1] ?? 0);
  return modules >= MIN_MODULES
    ? undefined
    : `only ${modules} modules were checked, expected at least ${MIN_MODULES}`;
}

/** Returns the lines of a passed check that say what it could not check. */
function notesOf(output) {
  return (output.match(/^note: .*\n/gm) ?? []).join('');
}

/** Runs a check and prints its result. Returns its name, and its fault with its output if it failed. */
function run([name, [program, ...args], verify]) {
  process.stdout.write(`${name} … `);
  const path = `${join(root, 'node_modules/.bin')}:${process.env.PATH ?? ''}`;
  const {status, stdout, stderr, error} = spawnSync(program, args, {
    cwd: root,
    encoding: 'utf8',
    env: {...process.env, PATH: path, FORCE_COLOR: '0'},
  });
  const fault = error?.message ?? (status === 0 ? verify?.(stdout) : `exit code ${status}`);
  const failure = fault === undefined ? undefined : `${fault}\n${stdout}${stderr}`;
  process.stdout.write(failure === undefined ? `ok\n${notesOf(stdout)}` : `${failure}\n`);
  return {name, failure};
}

const {values, positionals: requested} = parseArgs({
  options: {failures: {type: 'string'}},
  allowPositionals: true,
});
const chosen = requested.length === 0 ? CHECKS : CHECKS.filter(([name]) => requested.includes(name));
const unknown = requested
  .filter((name) => !CHECKS.some(([existing]) => existing === name))
  .map((name) => ({name, failure: 'no such check'}));
for (const {name} of unknown) process.stdout.write(`unknown check "${name}"\n`);
const failed = [...unknown, ...chosen.map(run).filter(({failure}) => failure !== undefined)];
if (values.failures !== undefined)
  writeFileSync(
    values.failures,
    JSON.stringify(failed.map(({name, failure}) => `failed check: ${name}: ${failure}`)),
  );
process.stdout.write(
  failed.length === 0 ? 'all checks passed\n' : `failed: ${failed.map(({name}) => name).join(', ')}\n`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
