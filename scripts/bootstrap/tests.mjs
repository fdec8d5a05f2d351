import {mkdtemp, readFile, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {explainNoExecutable} from './executable-support.mjs';
import {run, say} from './run.mjs';
import {addCounts, formatTestCount, countTests, NO_TESTS, findProblem} from './test-counts.mjs';

/** The projects of vitest.config.ts that `npm test` runs: those that need no container runtime, and the others. */
const ALL = {units: ['unit', 'bundle', 'binary'], onRuntimes: ['e2e', 'e2e-binary'], env: {}};

/** `npm run test:binary`: all that can run the executable does. */
const ON_EXECUTABLE = {units: ['binary'], onRuntimes: ['e2e-binary'], env: {KCRI_TEST_BINARY: 'whole'}};

/** Those of them that run the executable. */
const NEED_EXECUTABLE = new Set(ON_EXECUTABLE.units.concat(ON_EXECUTABLE.onRuntimes));

/** @typedef {() => Promise<{folder: string, version: string, runc?: string | undefined} | undefined>} FetchContainerd */

/**
 * Runs the tests, units first while the second containerd is fetched, and ends with the closing line. In CI it fails
 * as well when a test on a real runtime didn't run, or when there was only one runtime to run on.
 *
 * @param {readonly string[]} args for vitest
 * @param {FetchContainerd} fetchSecondContainerd
 * @returns {Promise<number>} the exit code
 */
export async function runTests(args, fetchSecondContainerd) {
  return await runAll(ALL, args, fetchSecondContainerd);
}

/**
 * The same with the tests that run the built program, on the executable: longer than `npm test` does.
 *
 * @param {readonly string[]} args
 * @param {FetchContainerd} fetchSecondContainerd
 * @returns {Promise<number>}
 */
export async function runTestsOfExecutable(args, fetchSecondContainerd) {
  return await runAll(ON_EXECUTABLE, args, fetchSecondContainerd);
}

async function runAll(projects, args, fetchSecondContainerd) {
  const [units, secondContainerd] = await Promise.all([
    runProjects(projects.units, args, projects.env),
    fetchSecondContainerd(),
  ]);
  const env =
    secondContainerd === undefined
      ? {}
      : {KCRI_TEST_CONTAINERD: secondContainerd.folder, KCRI_TEST_RUNC: secondContainerd.runc ?? ''};
  const onRuntimes = await runProjects(projects.onRuntimes, args, {...projects.env, ...env});
  const total = addCounts(units.count, onRuntimes.count);
  const problem = findProblem({
    total,
    onRuntimes: onRuntimes.count,
    runtimes: secondContainerd === undefined ? 1 : 2,
    // A run of chosen tests proves nothing about the others.
    inCi: process.env.CI === 'true' && args.length === 0,
  });
  if (problem !== undefined) process.stderr.write(`${problem}\n`);
  process.stdout.write(`${formatTestCount(total)}\n`);
  return problem === undefined && units.code === 0 && onRuntimes.code === 0 ? 0 : 1;
}

/** One after the other. */
async function runProjects(projects, args, env) {
  const reason = explainNoExecutable();
  let all = {code: 0, count: NO_TESTS};
  for (const project of projects) {
    if (reason !== undefined && NEED_EXECUTABLE.has(project)) {
      say(`the executable is not tested (${project}): ${reason}`);
      continue;
    }
    const {code, count} = await runProject(project, args, env);
    all = {code: all.code || code, count: addCounts(all.count, count)};
  }
  return all;
}

async function runProject(project, args, env) {
  const scratch = await mkdtemp(join(tmpdir(), 'kcri-test-'));
  try {
    const report = join(scratch, 'report.json');
    const options = [
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
      '--passWithNoTests',
    ];
    const code = await run(
      process.execPath,
      ['node_modules/vitest/vitest.mjs', 'run', ...options, '--project', project, ...args],
      {env},
    );
    return {code, count: countTests(JSON.parse(await readFile(report, 'utf8')))};
  } catch (error) {
    // Without a report the runner itself has failed, and has said why.
    if (error.code !== 'ENOENT') throw error;
    return {code: 1, count: {...NO_TESTS, failed: 1}};
  } finally {
    await rm(scratch, {recursive: true});
  }
}
