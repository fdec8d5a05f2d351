import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {archiveText} from '../base/archive-text.js';
import {runKcri, type RunOptions, type RunResult} from '../cli/run-kcri.js';
import {aContainerSpec, aManifest, createTestbed, type CommandTestbed} from './command-testbed.js';

const SECRET = 'Zx9-very-secret';

/** Saves a node with a pod that failed and whose log and variables have a secret. */
async function saveNode(...flags: readonly string[]): Promise<{
  readonly testbed: CommandTestbed;
  readonly file: string;
  readonly result: RunResult;
}> {
  const testbed = await createTestbed({
    behaviour: () => ({exitCode: 3, stderr: `cannot log in with ${SECRET}\nno database\n`}),
  });
  const containers = [aContainerSpec('main', {env: [{name: 'LOGIN', value: SECRET}]})];
  await testbed.run(['sync', '-'], {stdin: aManifest({restartPolicy: 'Never', containers})});
  const file = join(testbed.directory, 'node.tgz');
  const words = ['--root-dir', testbed.rootDir, 'doctor', '--save', file, ...flags];
  return {testbed, file, result: await runKcri(words, {endpoint: testbed.runtime.endpoint})};
}

/** Runs a command where there is no runtime. */
const elsewhere = async (...words: readonly string[]): Promise<RunResult> =>
  await runKcri(words, {endpoint: 'unix:///nonexistent/cri.sock'});

describe('a saved node', () => {
  // Proves: doctor --save, doctor --from, why --from
  test('is examined elsewhere as it would be there', async () => {
    const {testbed, file, result} = await saveNode('-o', 'json');
    expect(result.stderr).toMatch(/^saved node \S+ to \S+node\.tgz\n$/);
    const saved = await elsewhere('doctor', '--from', file, '-o', 'json');
    expect(saved.stdout).toBe(result.stdout.replaceAll(`kcri --root-dir ${testbed.rootDir} `, 'kcri '));
    expect(saved.exitCode).toBe(result.exitCode);
    expect(saved.stderr).toMatch(/^\S+node\.tgz: node \S+ as of \d{4}-\S+Z\n$/);
    const there = await runKcri(['--root-dir', testbed.rootDir, 'why', 'web'], {
      endpoint: testbed.runtime.endpoint,
    });
    const answer = await elsewhere('why', '--from', file, 'web');
    const withoutSecret = there.stdout
      .replaceAll(SECRET, '***')
      .replaceAll(` --root-dir ${testbed.rootDir}`, '');
    expect(withoutAges(answer.stdout)).toBe(withoutAges(withoutSecret));
    expect(answer).toMatchObject({exitCode: 1});
  });

  test('is written to standard output with the path -, and the results of the checks to standard error', async () => {
    const {result} = await saveNode();
    const testbed = await createTestbed();
    const run = async (options: RunOptions, ...flags: readonly string[]): Promise<RunResult> =>
      await runKcri(['--root-dir', testbed.rootDir, 'doctor', '--save=-', ...flags], {
        endpoint: testbed.runtime.endpoint,
        ...options,
      });
    const {stdout, stderr, exitCode} = await run({});
    expect(stdout).toMatch(/^\u001f/); // gzip
    expect(stderr).toMatch(/^saved node \S+ to standard output\n/);
    const areaOf = (text: string): string | undefined => /^\S+ /m.exec(text)?.[0];
    expect(areaOf(stderr.slice(stderr.indexOf('\n') + 1))).toBe(areaOf(result.stdout));
    expect(exitCode).toBe(result.exitCode);
    expect(existsSync('-')).toBe(false);
    expect(await run({terminal: true})).toMatchObject({
      ...{stdout: '', exitCode: 2},
      stderr: expect.stringContaining('an archive cannot be written to a terminal') as string,
    });
    expect(await run({}, '-o', 'json')).toMatchObject({
      ...{stdout: '', exitCode: 2},
      stderr: expect.stringContaining('would both write to standard output') as string,
    });
  });

  test('has no secrets', async () => {
    const {file} = await saveNode();
    const texts = archiveText(file);
    expect(texts).toContain('no database');
    expect(texts).not.toContain(SECRET);
  });

  // Proves: doctor --max-size
  test('has at most a size, and says what it lacks', async () => {
    const {file, result} = await saveNode('--max-size', '1Ki');
    expect(result.stderr).toMatch(
      /, without the logs of containers and the details of objects and the runtime and the lists of the runtime and the Node object and .* and 1 unhealthy pod /,
    );
    const answer = await elsewhere('why', '--from', file);
    expect(answer.stderr).toMatch(/; it lacks .*1 unhealthy pod\n$/);
  });

  test.each([
    ['nothing', 'no pod or container "nothing"'],
    ['web/nothing', 'no pod or container "web/nothing"'],
  ])('has no pod or container %s', async (word, message) => {
    const {file} = await saveNode();
    const {stderr, exitCode} = await elsewhere('why', '--from', file, word);
    expect(stderr).toContain(message);
    expect(exitCode).toBe(2);
  });

  test.each([
    [['doctor', '--save', 'a', '--from', 'b'], '--save cannot be combined with --from'],
    [['doctor', '--max-size', '1Mi'], '--max-size requires --save'],
    [['doctor', '--max-size', '1M', '--save', 'a'], 'use Mi for powers of 1024'],
    [['doctor', '--from', ''], '--from'],
    [['why', '--from', '/dev/null'], '/dev/null: it is not a snapshot of a node'],
  ])('%j is an error', async (words, message) => {
    const {stderr, exitCode} = await elsewhere(...words);
    expect(stderr).toContain(message);
    expect(exitCode).toBe(2);
  });
});

const withoutAges = (text: string): string => text.replaceAll(/\([^()]* ago\)/g, '(AGE)');
