import {appendFileSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {InterruptedError} from '../../src/cli/interrupt.js';
import {runKcri} from '../cli/run-kcri.js';
import {FakeRuntime, aContainer, aSandbox} from '../fakes/fake-runtime.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kcri-logs-'));
  path = join(folder, '1.log');
  writeFileSync(path, '2026-11-20T14:00:01Z stdout F one\n2026-11-20T14:00:02Z stderr F two\n');
});
afterEach(() => {
  rmSync(folder, {recursive: true});
});

async function started(state: 'CONTAINER_RUNNING' | 'CONTAINER_EXITED' = 'CONTAINER_EXITED') {
  const sandbox = aSandbox();
  return await FakeRuntime.start({
    sandboxes: [sandbox],
    containers: [aContainer({sandbox, name: 'main', attempt: 1, state, logPath: path})],
  });
}

describe('logs', () => {
  test.each([
    [[], 'one\n', 'two\n'],
    [['-t'], '2026-11-20T14:00:01.000000000Z one\n', '2026-11-20T14:00:02.000000000Z two\n'],
    [['--tail', '1'], '', 'two\n'],
    [['--tail=1', '-s', 'stdout'], 'one\n', ''],
    [['--limit-bytes', '2'], 'on', ''],
    [['--since', '2026-11-20T14:00:02Z'], '', 'two\n'],
    [['-f'], 'one\n', 'two\n'],
  ])('%j separates the streams', async (flags, stdout, stderr) => {
    await using runtime = await started();
    const result = await runKcri(['logs', 'main', ...flags], {endpoint: runtime.endpoint});
    expect(result).toEqual({stdout, stderr, exitCode: 0});
  });

  test('-p shows the attempt before', async () => {
    await using runtime = await started();
    writeFileSync(join(folder, '0.log'), '2026-11-20T13:00:00Z stdout F before\n');
    const {stdout} = await runKcri(['logs', '-p', 'web/main'], {endpoint: runtime.endpoint});
    expect(stdout).toBe('before\n');
  });

  test('-r lets the runtime reopen the file first', async () => {
    await using runtime = await started('CONTAINER_RUNNING');
    const {stderr} = await runKcri(['logs', '-r', 'main'], {endpoint: runtime.endpoint});
    expect(stderr).toBe('Container logs reopened\ntwo\n');
    expect(runtime.callsTo('ReopenContainerLog')).toHaveLength(1);
  });

  test('Ctrl-C ends following with 0', async () => {
    await using runtime = await started('CONTAINER_RUNNING');
    const controller = new AbortController();
    const onStdout = (text: string): void => {
      if (text === 'one\n') appendFileSync(path, '2026-11-20T14:00:03Z stdout F three\n');
      else controller.abort(new InterruptedError('SIGINT'));
    };
    const {stdout, exitCode} = await runKcri(['logs', '-f', 'main'], {
      endpoint: runtime.endpoint,
      signal: controller.signal,
      onStdout,
    });
    expect({stdout, exitCode}).toEqual({stdout: 'one\nthree\n', exitCode: 0});
  });

  test.each([
    [['logs'], 'ID cannot be empty'],
    [['logs', 'main', 'b'], 'no such container "b"'],
    [['logs', 'main', '--since', '1m', '--since-time', '1m'], '--since and --since-time are the same'],
    [['logs', 'main', '-s', 'both'], 'invalid stream "both", must be "stdout" or "stderr"'],
    [['logs', 'main', '--since', 'now'], '"now" is no time for --since'],
    [['logs', 'main', '--until', 'now'], '"now" is no time for --until'],
    [['logs', 'nope'], 'no such container "nope"'],
  ])('%j ends with 1', async (args, message) => {
    await using runtime = await started();
    const {stderr, exitCode} = await runKcri(args, {endpoint: runtime.endpoint});
    expect(stderr).toContain(`kcri: ${message}`);
    expect(exitCode).toBe(1);
  });

  test('a log file that is not there is an error with a hint', async () => {
    await using runtime = await started();
    rmSync(path);
    const {stderr, exitCode} = await runKcri(['logs', 'main'], {endpoint: runtime.endpoint});
    expect(stderr).toMatch(/^kcri: reading the log ".*": no such file or directory\nhint: logs are files/);
    expect(exitCode).toBe(1);
  });

  test('a container without a log says so', async () => {
    await using runtime = await FakeRuntime.start({sandboxes: [aSandbox()], containers: [aContainer()]});
    const {stderr} = await runKcri(['logs', 'main'], {endpoint: runtime.endpoint});
    expect(stderr).toContain('kcri: the container has not set log path');
  });
});
