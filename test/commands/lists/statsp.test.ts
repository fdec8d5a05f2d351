import {describe, expect, test} from 'vitest';
import {tableCells} from '../../cli/output/table-cells.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';
import {ESCAPES, run, startRuntime} from './stats-runtime.js';
import {interruptAt} from '../interrupt-watch.js';

describe('statsp', () => {
  test('prints the usage of each pod', async () => {
    await using runtime = await startRuntime();
    const {stdout, stderr, exitCode} = await run(runtime, ['statsp', '--sort', 'cpu']);
    expect(tableCells(stdout)).toEqual([
      ['POD', 'POD ID', 'CPU %', 'MEM'],
      ['web', runtime.sandboxes[0]!.id.slice(0, 13), '10.00', '20.97MB'],
      ['api', runtime.sandboxes[1]!.id.slice(0, 13), '5.00', '10.49MB'],
    ]);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  });

  test('-o wide adds processes, traffic and containers', async () => {
    await using runtime = await startRuntime();
    const {stdout} = await run(runtime, ['statsp', '-owide', '--no-headers', 'prod/api']);
    expect(tableCells(stdout)[0]?.slice(2)).toEqual(['5.00', '10.49MB', '2', '1kB', '2kB', '1', 'prod']);
  });

  test.each([
    [['web'], ['web']],
    [['--id', 'prod/api'], ['api']],
    [['--label', 'app=api'], ['api']],
    [
      ['--sort', 'pids'],
      ['web', 'api'],
    ],
    [
      ['--sort', 'name'],
      ['api', 'web'],
    ],
    [
      ['--sort', 'namespace', '--reverse'],
      ['api', 'web'],
    ],
  ])('%j prints %j', async (args, expected) => {
    await using runtime = await startRuntime();
    const {stdout} = await run(runtime, ['statsp', '--no-headers', ...args]);
    expect(tableCells(stdout).map(([name]) => name)).toEqual(expected);
  });

  test('reports a broken pod and prints the others', async () => {
    await using runtime = await startRuntime();
    const broken = {code: 'UNKNOWN', message: 'cgroupPath is empty'} as const;
    runtime.injectError('ListPodSandboxStats', broken);
    runtime.injectError('PodSandboxStats', {
      ...broken,
      match: (request) => request['pod_sandbox_id'] === runtime.sandboxes[1]!.id,
    });
    const {stdout, stderr, exitCode} = await run(runtime, ['statsp', '--no-headers']);
    expect(tableCells(stdout).map(([name, , cpu]) => [name, cpu])).toEqual([['web', '10.00']]);
    expect({stderr, exitCode}).toEqual({
      stderr: 'kcri: warning: no stats of pod "prod/api": cgroupPath is empty\n',
      exitCode: 0,
    });
    const named = await run(runtime, ['statsp', 'prod/api']);
    expect(named).toMatchObject({stdout: '', exitCode: 1});
    expect(named.stderr).toMatch(/^kcri: get pod stats: list pod sandbox stats: .*cgroupPath is empty\n/);
  });

  test('a pod removed meanwhile is not an error', async () => {
    await using runtime = await startRuntime();
    runtime.injectError('ListPodSandboxStats', {code: 'UNKNOWN', message: 'gone'});
    runtime.injectError('PodSandboxStats', {
      code: 'NOT_FOUND',
      message: 'gone',
      match: (request) => request['pod_sandbox_id'] === runtime.sandboxes[1]!.id,
    });
    const {stdout, stderr} = await run(runtime, ['statsp', '--no-headers']);
    expect(tableCells(stdout).map(([name]) => name)).toEqual(['web']);
    expect(stderr).toBe('');
  });

  test('500 pods, one of them broken, are requested with limited concurrency', async () => {
    await using runtime = await FakeRuntime.start();
    runtime.fill({containers: 500, pods: 500});
    runtime.injectError('ListPodSandboxStats', {code: 'INTERNAL', message: 'one is broken'});
    runtime.injectError('PodSandboxStats', {
      code: 'INTERNAL',
      message: 'broken',
      match: (request) => request['pod_sandbox_id'] === runtime.sandboxes[7]!.id,
    });
    const {stdout, stderr} = await run(runtime, ['statsp', '--no-headers']);
    expect(stdout.trimEnd().split('\n')).toHaveLength(499);
    expect(stderr).toBe('kcri: warning: no stats of pod "default/pod-00007": broken\n');
    expect(runtime.connections.accepted).toBe(1);
  });

  test('a list too large for one message is read in pages, or fails with a hint without paging', async () => {
    await using runtime = await FakeRuntime.start();
    runtime.fill({containers: 1500, pods: 1500});
    const tooLong = {code: 'RESOURCE_EXHAUSTED', message: 'grpc: message larger than max'} as const;
    runtime.injectError('ListPodSandboxStats', tooLong);
    const {stdout} = await run(runtime, ['statsp', '--no-headers']);
    expect(stdout.trimEnd().split('\n')).toHaveLength(1500);
    runtime.injectError('StreamPodSandboxStats', {code: 'UNIMPLEMENTED', message: 'unknown method'});
    const {stderr, exitCode} = await run(runtime, ['statsp']);
    expect(stderr).toMatch(/too large for one message.*\nhint: .*--label/);
    expect(exitCode).toBe(1);
  });

  test('-w prints no escape codes in a pipe and ends with success', async () => {
    await using runtime = await startRuntime();
    const {stdout, exitCode} = await run(runtime, ['statsp', '--watch'], interruptAt(/(POD ID[^]*){2}/));
    expect(stdout).not.toMatch(ESCAPES);
    expect(exitCode).toBe(0);
  });
});
