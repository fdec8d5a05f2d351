import {describe, expect, test} from 'vitest';
import {runKcri} from '../../cli/run-kcri.js';
import {FakeRuntime, aContainer, aSandbox, BUILT_AT_NANOS} from '../../fakes/fake-runtime.js';

async function startRuntime() {
  const [web, api] = [aSandbox({name: 'web'}), aSandbox({name: 'api'})];
  return await FakeRuntime.start({
    sandboxes: [web, api],
    containers: [
      aContainer({sandbox: web, name: 'main', createdAt: BUILT_AT_NANOS + 5n}),
      aContainer({sandbox: api, name: 'server'}),
      aContainer({sandbox: api, name: 'done', state: 'CONTAINER_EXITED', exitCode: 3}),
    ],
    exec: ([command, ...args]) =>
      command === 'say' ? {stdout: args.join(' '), stderr: 'note', exitCode: args.length} : undefined,
  });
}

describe('exec --sync', () => {
  test('separates the outputs unchanged, and returns the exit code', async () => {
    await using runtime = await startRuntime();
    const result = await runKcri(['exec', '-s', 'main', 'say', '-x', 'b', '-x', '--'], {
      endpoint: runtime.endpoint,
    });
    expect(result).toEqual({
      stdout: '-x b -x --',
      stderr: 'note',
      exitCode: 4,
    });
    expect(runtime.callsTo('ExecSync')[0]!.request).toEqual({
      container_id: runtime.containers[0]!.id,
      cmd: ['say', '-x', 'b', '-x', '--'],
    });
  });

  test.each([
    [['-s', '--', 'main', 'true']],
    [['-s', 'main', '--', 'true']],
    [['--sync', '--timeout', '9', 'web/main', 'true']],
    [['--name', '^main$', '-s', 'true']],
  ])('%j runs true', async (words) => {
    await using runtime = await startRuntime();
    const args = ['exec', ...words];
    expect((await runKcri(args, {endpoint: runtime.endpoint})).exitCode).toBe(0);
    expect(runtime.callsTo('ExecSync')[0]!.request).toMatchObject({cmd: ['true']});
  });

  test('--timeout limits the command, not the call', async () => {
    await using runtime = await startRuntime();
    await runKcri(['exec', '-s', '--timeout', '9', 'main', 'true'], {endpoint: runtime.endpoint});
    expect(runtime.callsTo('ExecSync')[0]!.request).toMatchObject({timeout: '9'});
  });

  test('runs in all containers that a filter selects', async () => {
    await using runtime = await startRuntime();
    const args = ['exec', '-sq', '--name', '.', 'echo', 'hi'];
    expect((await runKcri(args, {endpoint: runtime.endpoint})).stdout).toBe('hi\nhi\n');
  });

  test('-e ignores errors', async () => {
    await using runtime = await startRuntime();
    expect((await runKcri(['exec', '-se', 'main', 'false'], {endpoint: runtime.endpoint})).exitCode).toBe(0);
  });

  test.each([
    [['exec'], 'specify a container and a command'],
    [['exec', 'main'], 'specify a container and a command'],
    [['exec', '-s', '--name', 'zzz', 'true'], 'No containers found per filter flags'],
    [['exec', '-s', 'done', 'true'], 'running "true" in container "done": failed to exec in container'],
    [
      ['exec', '--timeout', '1s', 'main', 'true'],
      'invalid argument "1s" for "--timeout" flag: not an integer',
    ],
  ])('%j exits with 1', async (args, message) => {
    await using runtime = await startRuntime();
    const {stderr, exitCode} = await runKcri(args, {endpoint: runtime.endpoint});
    expect(stderr).toContain(`kcri: ${message}`);
    expect(exitCode).toBe(1);
  });
});
