/**
 * `npm run check`: everything but the tests. Each check is a program of its own; all of them run, and what
 * failed is listed at the end. With arguments only the checks of those names: `npm run check -- imports`.
 */
import {spawnSync} from 'node:child_process';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
/** Fewer modules than this means that dependency-cruiser did not see the tree, and its verdict says nothing. */
const FEWEST_MODULES = 200;

const CHECKS = [
  ['types', ['tsc', '--noEmit', '-p', 'tsconfig.json']],
  ['lint', ['eslint', '.', '--max-warnings', '0']],
  ['format', ['prettier', '--check', '--log-level', 'warn', '.']],
  ['imports', ['depcruise', 'src', '--output-type', 'err'], sawModules],
  ['dead code', ['knip', '--no-progress']],
  ['generated files', ['node', 'scripts/generate.mjs', '--check']],
  ['build', ['node', 'scripts/bootstrap/build.mjs']],
  ['package', ['node', 'scripts/check-package.mjs']],
  ['start-up budget', ['node', 'scripts/startup-budget.mjs']],
  ['manual pages', ['node', 'scripts/man.mjs', '--check']],
  ['flag table', ['node', 'scripts/flag-table.mjs', '--check']],
  ['parity table', ['node', 'scripts/parity-table.mjs', '--check']],
  ['field table', ['node', 'scripts/field-table.mjs', '--check']],
  ['configuration table', ['node', 'scripts/config-table.mjs', '--check']],
];

function sawModules(output) {
  const modules = Number(/(\d+) modules/.exec(output)?.[1] ?? 0);
  return modules >= FEWEST_MODULES
    ? undefined
    : `only ${modules} modules were seen, at least ${FEWEST_MODULES} are there`;
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
  process.stdout.write(fault === undefined ? 'ok\n' : `${fault}\n${stdout}${stderr}\n`);
  return fault === undefined;
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !CHECKS.some(([known]) => known === name));
const chosen = wanted.length === 0 ? CHECKS : CHECKS.filter(([name]) => wanted.includes(name));
for (const name of unknown) process.stdout.write(`there is no check "${name}"\n`);
const failed = [...unknown, ...chosen.filter((check) => !run(check)).map(([name]) => name)];
process.stdout.write(failed.length === 0 ? 'all checks passed\n' : `failed: ${failed.join(', ')}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
