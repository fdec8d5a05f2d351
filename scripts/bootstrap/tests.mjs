import {mkdtemp, readFile, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {run} from './run.mjs';
import {addCounts, closingLine, countOf, NOTHING, problemIn} from './test-counts.mjs';

/**
 * Runs the tests, units first while the second containerd is fetched, and ends with the closing line. In CI it fails
 * as well when a test on a real runtime didn't run, or when there was only one runtime to run on.
 *
 * @param {readonly string[]} args for vitest
 * @param {() => Promise<{folder: string, version: string, runc?: string | undefined} | undefined>} fetchSecondContainerd
 * @returns {Promise<number>} the exit code
 */
export async function runTests(args, fetchSecondContainerd) {
  const [units, secondContainerd] = await Promise.all([runUnits(args), fetchSecondContainerd()]);
  const env =
    secondContainerd === undefined
      ? {}
      : {KCRI_TEST_CONTAINERD: secondContainerd.folder, KCRI_TEST_RUNC: secondContainerd.runc ?? ''};
  const onRuntimes = await runProject('e2e', args, env);
  const total = addCounts(units.count, onRuntimes.count);
  const problem = problemIn({
    total,
    onRuntimes: onRuntimes.count,
    runtimes: secondContainerd === undefined ? 1 : 2,
    // A run of chosen tests proves nothing about the others.
    inCi: process.env.CI === 'true' && args.length === 0,
  });
  if (problem !== undefined) process.stderr.write(`${problem}\n`);
  process.stdout.write(`${closingLine(total)}\n`);
  return problem === undefined && units.code === 0 && onRuntimes.code === 0 ? 0 : 1;
}

/** The CLI's tests run twice: on the sources, and on the bundle. */
async function runUnits(args) {
  const units = await runProject('unit', args, {});
  const bundle = await runProject('bundle', args, {});
  return {code: units.code || bundle.code, count: addCounts(units.count, bundle.count)};
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
    return {code, count: countOf(JSON.parse(await readFile(report, 'utf8')))};
  } catch (error) {
    // Without a report the runner itself has failed, and has said why.
    if (error.code !== 'ENOENT') throw error;
    return {code: 1, count: {...NOTHING, failed: 1}};
  } finally {
    await rm(scratch, {recursive: true});
  }
}
