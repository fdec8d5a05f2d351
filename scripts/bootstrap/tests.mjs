import {mkdtemp, readFile, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {explainNoExecutable} from './executable-support.mjs';
import {run, runAll, say} from './run.mjs';
import {addCounts, formatTestCount, countTests, NO_TESTS, findProblem} from './test-counts.mjs';

const ALL = {
  processors: ['unit', 'unit-isolated', 'bundle', 'binary'],
  runtimes: ['e2e', 'e2e-binary'],
  checks: false,
  env: {KCRI_TEST_SCOPE: 'selected'},
};

/**
 * Projects of vitest.config.ts that each task runs, and in CI `npm run check`. Projects of `processors` keep the
 * processors busy; those of `runtimes` use a container runtime and often wait. Both and the checks run at the same time,
 * those of `runtimes` with a higher priority.
 */
const TASKS = {
  test: ALL,
  ci: {...ALL, checks: true},
  'test:full': {...ALL, env: {KCRI_TEST_SCOPE: 'full'}},
  'test:binary': {...ALL, processors: ['binary'], runtimes: ['e2e-binary'], env: {KCRI_TEST_SCOPE: 'full'}},
};

/** The names of the tasks that run tests. */
export const TEST_TASKS = Object.keys(TASKS);

/** The projects that run the executable. */
const NEED_EXECUTABLE = new Set(['binary', 'e2e-binary']);

/**
 * @typedef {object} Downloads
 * @property {() => Promise<{folder: string, version: string, runc?: string | undefined} | undefined>} secondContainerd
 * @property {() => Promise<string>} kubectl
 */

/**
 * Runs the tests and prints their number as the last line. In CI it also fails when a test on a real runtime was
 * skipped, or when only one runtime was available.
 *
 * @param {keyof typeof TASKS} task
 * @param {readonly string[]} args arguments for vitest
 * @param {Downloads} download programs that end-to-end tests need
 * @returns {Promise<number>} the exit code
 */
export async function runTests(task, args, download) {
  const {processors, runtimes, checks, env} = TASKS[task];
  const [onRuntimes, units, checksCode] = await runAll(
    runOnRuntimes(runtimes, args, env, download),
    runProjects(processors, args, {env, nice: true}),
    checks ? run(process.execPath, ['scripts/check.mjs'], {lines: true, nice: true}) : 0,
  );
  const total = addCounts(units.count, onRuntimes.count);
  const problem = findProblem({
    total,
    onRuntimes: onRuntimes.count,
    runtimes: onRuntimes.runtimes,
    // A run of selected tests says nothing about the others.
    inCi: process.env.CI === 'true' && args.length === 0,
  });
  if (problem !== undefined) process.stderr.write(`${problem}\n`);
  process.stdout.write(`${formatTestCount(total)}\n`);
  return problem === undefined && units.code === 0 && onRuntimes.code === 0 && checksCode === 0 ? 0 : 1;
}

async function runOnRuntimes(projects, args, env, download) {
  const [second, kubectl] = await runAll(download.secondContainerd(), fetchKubectl(download));
  const ofSecond =
    second === undefined ? {} : {KCRI_TEST_CONTAINERD: second.folder, KCRI_TEST_RUNC: second.runc ?? ''};
  const result = await runProjects(projects, args, {env: {...env, ...ofSecond, ...kubectl}});
  return {...result, runtimes: second === undefined ? 1 : 2};
}

/** Returns the variable for the tests that use kubectl. Without it they fail with the reason. */
async function fetchKubectl(download) {
  try {
    return {KCRI_TEST_KUBECTL: await download.kubectl()};
  } catch (error) {
    say(error.message);
    return {};
  }
}

/** Runs projects one after the other, with `options` for `run`. */
async function runProjects(projects, args, options) {
  const reason = explainNoExecutable();
  let all = {code: 0, count: NO_TESTS};
  for (const project of projects) {
    if (reason !== undefined && NEED_EXECUTABLE.has(project)) {
      say(`the executable is not tested (${project}): ${reason}`);
      continue;
    }
    const {code, count} = await runProject(project, args, options);
    all = {code: all.code || code, count: addCounts(all.count, count)};
  }
  return all;
}

async function runProject(project, args, options) {
  const scratch = await mkdtemp(join(tmpdir(), 'kcri-test-'));
  try {
    const report = join(scratch, 'report.json');
    const flags = [
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
      '--passWithNoTests',
    ];
    const code = await run(
      process.execPath,
      ['node_modules/vitest/vitest.mjs', 'run', ...flags, '--project', project, ...args],
      // Two runs share the terminal, so neither may move its cursor.
      {...options, lines: true},
    );
    return {code, count: countTests(JSON.parse(await readFile(report, 'utf8')))};
  } catch (error) {
    // Without a report, vitest itself has failed and has printed the reason.
    if (error.code !== 'ENOENT') throw error;
    return {code: 1, count: {...NO_TESTS, failed: 1}};
  } finally {
    await rm(scratch, {recursive: true});
  }
}
