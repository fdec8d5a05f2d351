/**
 * `npm run check` runs all checks except the tests. Each check is a separate program. All of them run, and failed ones
 * are listed at the end. Arguments select checks by name: `npm run check -- imports`.
 */
import {spawnSync} from 'node:child_process';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
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

function run([name, [program, ...args], verify]) {
  process.stdout.write(`${name} … `);
  const path = `${join(root, 'node_modules/.bin')}:${process.env.PATH ?? ''}`;
  const {status, stdout, stderr, error} = spawnSync(program, args, {
    cwd: root,
    encoding: 'utf8',
    env: {...process.env, PATH: path, FORCE_COLOR: '0'},
  });
  const fault = error?.message ?? (status === 0 ? verify?.(stdout) : `exit code ${status}`);
  process.stdout.write(fault === undefined ? `ok\n${notesOf(stdout)}` : `${fault}\n${stdout}${stderr}\n`);
  return fault === undefined;
}

const requested = process.argv.slice(2);
const unknown = requested.filter((name) => !CHECKS.some(([existing]) => existing === name));
const chosen = requested.length === 0 ? CHECKS : CHECKS.filter(([name]) => requested.includes(name));
for (const name of unknown) process.stdout.write(`unknown check "${name}"\n`);
const failed = [...unknown, ...chosen.filter((check) => !run(check)).map(([name]) => name)];
process.stdout.write(failed.length === 0 ? 'all checks passed\n' : `failed: ${failed.join(', ')}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
