import {randomUUID} from 'node:crypto';
import {mkdtemp, readFile, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {buildExecutables} from './build.mjs';
import {explainNoExecutable} from './executable-support.mjs';
import {describeLeaks, listLeaks, listMachine, RUN_VARIABLE} from './leaks.mjs';
import {explainTooMany, findRepeatedTests, formatLedger} from './repeated-tests.mjs';
import {ROOT, run, runAll, say} from './run.mjs';
import {
  addCounts,
  countTests,
  describeFailures,
  findProblem,
  formatTestCount,
  NO_TESTS,
} from './test-counts.mjs';

const ALL = {
  runtimes: ['e2e', 'e2e-binary'],
  sources: ['unit', 'unit-isolated'],
  programs: ['bundle', 'binary'],
  checks: false,
  env: {KCRI_TEST_SCOPE: 'selected'},
};

/**
 * Projects of vitest.config.ts that each task runs, and in CI `npm run check`. Projects of `runtimes` use a container
 * runtime and often wait, so they have a higher priority; those of `sources` and `programs` keep the processors busy. The
 * projects of a list run one after the other; the lists, the checks and the build of the executable run at the same time.
 */
const TASKS = {
  test: ALL,
  ci: {...ALL, checks: true},
  'test:full': {...ALL, env: {KCRI_TEST_SCOPE: 'full'}},
  'test:cluster': {...ALL, runtimes: ['cluster'], sources: [], programs: [], env: {}},
  'test:binary': {
    ...ALL,
    runtimes: ['e2e-binary'],
    sources: [],
    programs: ['binary'],
    env: {KCRI_TEST_SCOPE: 'full'},
  },
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
 * skipped, when only one runtime was available, when too many tests were repeated, or when something is left running.
 *
 * @param {keyof typeof TASKS} task
 * @param {readonly string[]} args arguments for vitest
 * @param {Downloads} download programs that end-to-end tests need
 * @returns {Promise<number>} the exit code
 */
export async function runTests(task, args, download) {
  const {runtimes, sources, programs, checks, env: scope} = TASKS[task];
  const executables = buildExecutables();
  const [id, before] = [randomUUID(), listMachine()];
  const env = {...scope, [RUN_VARIABLE]: id};
  const runAllOf = (projects, options) => runProjects(projects, args, {...options, executables});
  const [onRuntimes, onSources, onPrograms, failedChecks] = await runAll(
    runOnRuntimes(runtimes, {env, download}, runAllOf),
    runAllOf(sources, {env, nice: true}),
    runAllOf(programs, {env, nice: true}),
    checks ? runChecks() : [],
    executables,
  );
  const all = [onRuntimes, onSources, onPrograms];
  const total = all.map(({count}) => count).reduce(addCounts);
  const repeated = all.flatMap((result) => result.repeated);
  const leaks = await listLeaks(id, before);
  // Last, where they are found in the output of a long run.
  for (const text of [
    ...all.flatMap((result) => result.failures),
    ...failedChecks,
    ...formatLedger(repeated, ROOT),
    ...describeLeaks(leaks),
  ])
    process.stderr.write(`${text}\n`);
  const inCi = process.env.CI === 'true';
  const problems = [
    failedChecks.length === 0 ? undefined : 'npm run check failed: see above',
    // A run of selected tests says nothing about the others.
    findProblem({
      ...{total, onRuntimes: onRuntimes.count, runtimes: onRuntimes.runtimes},
      inCi: inCi && args.length === 0,
    }),
    inCi ? explainTooMany(repeated) : undefined,
    inCi && leaks.length > 0 ? 'the tests have left something on the machine: see above' : undefined,
  ].filter((problem) => problem !== undefined);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.stdout.write(`${formatTestCount(total)}\n`);
  return problems.length === 0 && all.every(({code}) => code === 0) ? 0 : 1;
}

async function runOnRuntimes(projects, {env, download}, runAllOf) {
  const [second, kubectl] = await runAll(download.secondContainerd(), fetchKubectl(download));
  const ofSecond =
    second === undefined ? {} : {KCRI_TEST_CONTAINERD: second.folder, KCRI_TEST_RUNC: second.runc ?? ''};
  const result = await runAllOf(projects, {env: {...env, ...ofSecond, ...kubectl}});
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

/** Runs projects one after the other, with `options` for `run`. Those that need the executables wait for these. */
async function runProjects(projects, args, {executables, ...options}) {
  const reason = explainNoExecutable();
  let all = {code: 0, count: NO_TESTS, failures: [], repeated: []};
  for (const project of projects) {
    if (NEED_EXECUTABLE.has(project)) {
      if (reason !== undefined) {
        say(`the executable is not tested (${project}): ${reason}`);
        continue;
      }
      await executables;
    }
    const {code, count, failures, repeated} = await runProject(project, args, options);
    all = {
      code: all.code || code,
      count: addCounts(all.count, count),
      failures: [...all.failures, ...failures],
      repeated: [...all.repeated, ...repeated],
    };
  }
  return all;
}

/** Runs `npm run check`. Returns the failed checks, each with its output. */
async function runChecks() {
  const {report} = await runWithReport((file) =>
    run(process.execPath, ['scripts/check.mjs', `--failures=${file}`], {lines: true, nice: true}),
  );
  return report ?? ['failed check: scripts/check.mjs has no report'];
}

async function runProject(project, args, options) {
  const {code, report} = await runWithReport((file) => {
    const flags = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`, '--passWithNoTests'];
    return run(
      process.execPath,
      ['node_modules/vitest/vitest.mjs', 'run', ...flags, '--project', project, ...args],
      // Two runs share the terminal, so neither may move its cursor.
      {...options, lines: true},
    );
  });
  if (report !== undefined)
    return {
      ...{code, count: countTests(report), failures: describeFailures(report)},
      repeated: findRepeatedTests(report, project),
    };
  // Without a report, vitest itself has failed and has printed the reason.
  const failures = [`failed: ${project} has no report`];
  return {code: 1, count: {...NO_TESTS, failed: 1}, failures, repeated: []};
}

/**
 * Runs a program that writes a report in JSON to a file. Returns its exit code and the report, or 1 if there is none.
 *
 * @param {(file: string) => Promise<number>} program
 */
async function runWithReport(program) {
  const scratch = await mkdtemp(join(tmpdir(), 'kcri-test-'));
  const file = join(scratch, 'report.json');
  try {
    const code = await program(file);
    return {code, report: JSON.parse(await readFile(file, 'utf8'))};
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return {code: 1};
  } finally {
    await rm(scratch, {recursive: true});
  }
}
