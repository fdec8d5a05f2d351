import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {appendFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {PassThrough} from 'node:stream';
import {beforeEach, describe, expect, test} from 'vitest';
import {createProcessContext} from '../../src/cli/process/context.js';
import type {OutputStream} from '../../src/cli/process/standard-output.js';
import {InterruptedError} from '../../src/cli/process/interrupt.js';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {main} from '../cli/program.js';
import {runKcri} from '../cli/run-kcri.js';
import {BUILT_AT_NANOS, FakeRuntime, aContainer, aSandbox} from '../fakes/fake-runtime.js';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await temporaryDirectory();
  path = join(folder, '1.log');
  writeFileSync(path, '2026-11-20T14:00:01Z stdout F one\n2026-11-20T14:00:02Z stderr F two\n');
});

async function startRuntime(state: 'CONTAINER_RUNNING' | 'CONTAINER_EXITED' = 'CONTAINER_EXITED') {
  const sandbox = aSandbox();
  return await FakeRuntime.start({
    sandboxes: [sandbox],
    containers: [aContainer({sandbox, name: 'main', attempt: 1, state, logPath: path})],
  });
}

describe('logs', () => {
  // Proves: logs --limit-bytes, logs --since, logs --tail
  test.each([
    [[], 'one\n', 'two\n'],
    [['-t'], '2026-11-20T14:00:01.000000000Z one\n', '2026-11-20T14:00:02.000000000Z two\n'],
    [['--tail', '1'], '', 'two\n'],
    [['--tail=1', '-s', 'stdout'], 'one\n', ''],
    [['--limit-bytes', '2'], 'on', ''],
    [['--since', '2026-11-20T14:00:02Z'], '', 'two\n'],
    [['-f'], 'one\n', 'two\n'],
  ])('%j separates the streams', async (flags, stdout, stderr) => {
    await using runtime = await startRuntime();
    const result = await runKcri(['logs', 'main', ...flags], {endpoint: runtime.endpoint});
    expect(result).toEqual({stdout, stderr, exitCode: 0});
  });

  test('one container by its full ID takes one call, as in crictl', async () => {
    await using runtime = await startRuntime();
    const [container] = runtime.containers;
    const {stdout} = await runKcri(['logs', container?.id ?? ''], {endpoint: runtime.endpoint});
    expect(stdout).toBe('one\n');
    expect(runtime.calls.map(({method}) => method)).toEqual(['ContainerStatus']);
  });

  test('the full ID of no container is reported as one that does not exist', async () => {
    await using runtime = await startRuntime();
    const result = await runKcri(['logs', 'd'.repeat(64)], {endpoint: runtime.endpoint});
    expect(result.exitCode).toBe(1);
    expect(result.stderr).toContain(`no such container "${'d'.repeat(64)}"`);
  });

  test('-p prints the previous attempt', async () => {
    await using runtime = await startRuntime();
    writeFileSync(join(folder, '0.log'), '2026-11-20T13:00:00Z stdout F before\n');
    const {stdout} = await runKcri(['logs', '-p', 'web/main'], {endpoint: runtime.endpoint});
    expect(stdout).toBe('before\n');
  });

  test('-r reopens the log file first', async () => {
    await using runtime = await startRuntime('CONTAINER_RUNNING');
    const {stderr} = await runKcri(['logs', '-r', 'main'], {endpoint: runtime.endpoint});
    expect(stderr).toBe('Container logs reopened\ntwo\n');
    expect(runtime.callsTo('ReopenContainerLog')).toHaveLength(1);
  });

  test('Ctrl-C ends following with exit code 0', async () => {
    await using runtime = await startRuntime('CONTAINER_RUNNING');
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

  // Proves: logs --since-time, logs --until
  test.each([
    [['logs'], 'specify a container or a pod'],
    [['logs', 'main', 'b'], 'no such container "b"'],
    [
      ['logs', 'main', '--since', '1m', '--since-time', '1m'],
      '--since and --since-time are mutually exclusive',
    ],
    [['logs', 'main', '-s', 'both'], 'invalid stream "both", must be "stdout" or "stderr"'],
    [['logs', 'main', '--since', 'now'], 'invalid --since "now"'],
    [['logs', 'main', '--until', 'now'], 'invalid --until "now"'],
    [['logs', 'nope'], 'no such container "nope"'],
  ])('%j exits with 1', async (args, message) => {
    await using runtime = await startRuntime();
    const {stderr, exitCode} = await runKcri(args, {endpoint: runtime.endpoint});
    expect(stderr).toContain(`kcri: ${message}`);
    expect(exitCode).toBe(1);
  });

  test('reports a missing log file with a hint', async () => {
    await using runtime = await startRuntime();
    rmSync(path);
    const {stderr, exitCode} = await runKcri(['logs', 'main'], {endpoint: runtime.endpoint});
    expect(stderr).toMatch(/^kcri: cannot read log ".*": no such file or directory\nhint: logs are files/);
    expect(exitCode).toBe(1);
  });

  test('reports a container without a log', async () => {
    await using runtime = await FakeRuntime.start({sandboxes: [aSandbox()], containers: [aContainer()]});
    const {stderr} = await runKcri(['logs', 'main'], {endpoint: runtime.endpoint});
    expect(stderr).toContain('kcri: the container has not set log path');
  });
});

describe('logs of several containers', () => {
  const KUBELET = {'io.kubernetes.container.restartCount': '0'};
  const log = (name: string, ...lines: readonly (readonly [number, string])[]): string => {
    const file = join(folder, name);
    writeFileSync(
      file,
      lines.map(([second, text]) => `2026-11-20T14:00:0${second}Z stdout F ${text}\n`).join(''),
    );
    return file;
  };

  async function pod() {
    const sandbox = aSandbox({labels: {app: 'web'}});
    const [a0, a1, b] = [
      log('a0', [1, 'a0']),
      log('a1', [2, 'a1'], [5, 'a2']),
      log('b', [3, 'b1'], [4, 'b2']),
    ];
    const exited = {sandbox, state: 'CONTAINER_EXITED', labels: {app: 'web'}} as const;
    return await FakeRuntime.start({
      sandboxes: [sandbox],
      containers: [
        aContainer({...exited, name: 'a', attempt: 0, logPath: a0}),
        aContainer({...exited, name: 'a', attempt: 1, createdAt: BUILT_AT_NANOS + 1n, logPath: a1}),
        aContainer({...exited, name: 'sidecar', logPath: b}),
      ],
    });
  }

  // Proves: logs --label, logs --name, logs --pod
  test.each([
    [['a', 'sidecar']],
    [['--pod', 'web']],
    [['--pod', 'default/web']],
    [['--label', 'app=web']],
    [['--name', '.']],
  ])('%j: the newest attempt of each, merged by time, with prefixes', async (selected) => {
    await using runtime = await pod();
    const result = await runKcri(['logs', ...selected], {endpoint: runtime.endpoint});
    const stdout = 'a       | a1\nsidecar | b1\nsidecar | b2\na       | a2\n';
    expect(result).toEqual({stdout, stderr: '', exitCode: 0});
  });

  test('--pod can be repeated', async () => {
    const folder = await temporaryDirectory();
    const sandboxes = ['one', 'two', 'three'].map((name) => aSandbox({name}));
    const containers = sandboxes.map((sandbox, index) => {
      const logPath = join(folder, `${index}.log`);
      writeFileSync(logPath, `2026-11-20T14:00:0${index}Z stdout F line ${index}\n`);
      return aContainer({sandbox, name: 'main', logPath});
    });
    await using runtime = await FakeRuntime.start({sandboxes, containers});
    const run = (...pods: readonly string[]) =>
      runKcri(['logs', ...pods.flatMap((name) => ['--pod', name])], {endpoint: runtime.endpoint});
    expect((await run('two', 'one')).stdout).toBe('one/main | line 0\ntwo/main | line 1\n');
    expect((await run('two')).stdout).toBe('line 1\n');
    expect(await run('two', 'nothing')).toMatchObject({exitCode: 1, stdout: ''});
  });

  // Proves: logs --no-prefix
  test('prefixes are colored unless disabled, and can be omitted', async () => {
    await using runtime = await pod();
    const {endpoint} = runtime;
    const colored = await runKcri(['logs', 'a', 'sidecar', '--tail', '1'], {
      endpoint,
      env: {FORCE_COLOR: '1'},
    });
    expect(colored.stdout).toBe('\u001b[33msidecar |\u001b[39m b2\n\u001b[36ma       |\u001b[39m a2\n');
    const withoutPrefix = await runKcri(['logs', 'a', 'sidecar', '--no-prefix'], {endpoint});
    expect(withoutPrefix.stdout).toBe('a1\nb1\nb2\na2\n');
  });

  test('reports a missing container and prints the others', async () => {
    await using runtime = await pod();
    const {stdout, stderr, exitCode} = await runKcri(['logs', 'a', 'nope'], {endpoint: runtime.endpoint});
    expect(stdout).toBe('a1\na2\n');
    expect(stderr).toContain('kcri: no such container "nope"');
    expect(exitCode).toBe(1);
  });

  // Proves: logs --follow-restarts
  test.each([
    ['a container restarted by a kubelet', false],
    ['a container on a runtime that ignores filters', true],
  ])('--follow-restarts continues with the next attempt of %s', async (_, ignoresFilters) => {
    const sandbox = aSandbox();
    const other = aSandbox({name: 'other', uid: 'other-uid'});
    const finishedAt = BigInt(Date.now()) * 1_000_000n;
    const container = {sandbox, name: 'main', annotations: KUBELET, createdAt: finishedAt} as const;
    const [first, second] = [log('0.log', [1, 'one']), log('1.log', [2, 'two'])];
    const ofOtherPod = {...container, sandbox: other, logPath: log('2.log', [3, 'theirs'])};
    const ended = {state: 'CONTAINER_EXITED', exitCode: 3, finishedAt} as const;
    await using runtime = await FakeRuntime.start({
      ignoresFilters,
      sandboxes: [sandbox, other],
      containers: [aContainer({...container, ...ended, attempt: 0, logPath: first})],
    });
    const onStdout = (text: string): void => {
      if (text === 'one\n') {
        runtime.state.addContainer(aContainer({...ofOtherPod, ...ended, attempt: 1}));
        runtime.state.addContainer(aContainer({...container, ...ended, attempt: 1, logPath: second}));
      } else {
        const podSandbox = runtime.state.sandboxes.get(sandbox.id);
        if (podSandbox !== undefined) podSandbox.state = 'SANDBOX_NOTREADY';
      }
    };
    const result = await runKcri(['logs', '--follow-restarts', 'main'], {
      endpoint: runtime.endpoint,
      onStdout,
    });
    expect(result).toEqual({
      stdout: 'one\ntwo\n',
      stderr: expect.stringMatching(/^kcri: main was restarted: attempt 1\n/) as string,
      exitCode: 0,
    });
  });

  test.each([
    ['its pod has terminated', {state: 'SANDBOX_NOTREADY'}, KUBELET, 0],
    ['it was not created by a kubelet', {}, {}, 0],
    ['it exited long ago', {}, KUBELET, 600_000],
  ] as const)('--follow-restarts ends with the container if %s', async (_, seed, annotations, agoMs) => {
    const sandbox = aSandbox(seed);
    const finishedAt = BigInt(Date.now() - agoMs) * 1_000_000n;
    const state = 'CONTAINER_EXITED' as const;
    await using runtime = await FakeRuntime.start({
      sandboxes: [sandbox],
      containers: [aContainer({sandbox, name: 'main', state, annotations, finishedAt, logPath: path})],
    });
    const result = await runKcri(['logs', '-f', '--follow-restarts', 'main'], {endpoint: runtime.endpoint});
    expect(result).toEqual({stdout: 'one\n', stderr: 'two\n', exitCode: 0});
  });

  test.each([0, 3])(
    '-f ends with a container that exits with %i although a kubelet restarts it',
    async (exitCode) => {
      const sandbox = aSandbox();
      const seed = {sandbox, name: 'main', annotations: KUBELET, logPath: path};
      await using runtime = await FakeRuntime.start({sandboxes: [sandbox], containers: [aContainer(seed)]});
      const [{id} = {id: ''}] = runtime.containers;
      const onStdout = (text: string): void => {
        if (text !== 'one\n') return;
        appendFileSync(path, '2026-11-20T14:00:03Z stdout F last\n');
        runtime.exitContainer(id, exitCode);
      };
      const result = await runKcri(['logs', '-f', 'main'], {endpoint: runtime.endpoint, onStdout});
      expect(result).toEqual({stdout: 'one\nlast\n', stderr: 'two\n', exitCode: 0});
    },
  );

  test('-f waits for a container that was created but not started', async () => {
    const sandbox = aSandbox();
    const seed = {sandbox, name: 'main', state: 'CONTAINER_CREATED', logPath: path} as const;
    await using runtime = await FakeRuntime.start({sandboxes: [sandbox], containers: [aContainer(seed)]});
    const [{id} = {id: ''}] = runtime.containers;
    const running = runKcri(['logs', '-f', 'main'], {endpoint: runtime.endpoint});
    await expect.poll(() => runtime.callsTo('ContainerStatus').length).toBeGreaterThan(2);
    runtime.state.getContainer(id, 'no container').state = 'CONTAINER_RUNNING';
    runtime.exitContainer(id, 0);
    expect(await running).toEqual({stdout: 'one\n', stderr: 'two\n', exitCode: 0});
  });

  test('--follow-restarts reports what it waits for, and Ctrl-C ends it with 0', async () => {
    const sandbox = aSandbox();
    const finishedAt = BigInt(Date.now()) * 1_000_000n;
    const seed = {sandbox, name: 'main', state: 'CONTAINER_EXITED', exitCode: 3, finishedAt} as const;
    await using runtime = await FakeRuntime.start({
      sandboxes: [sandbox],
      containers: [aContainer({...seed, annotations: KUBELET, logPath: path})],
    });
    const controller = new AbortController();
    const running = runKcri(['logs', '--follow-restarts', 'main'], {
      endpoint: runtime.endpoint,
      signal: controller.signal,
    });
    await expect.poll(() => runtime.callsTo('ListPodSandbox').length).toBeGreaterThan(2);
    controller.abort(new InterruptedError('SIGINT'));
    expect(await running).toEqual({
      stdout: 'one\n',
      stderr: 'two\nkcri: main exited with code 3 (Error); waiting for its next attempt\n',
      exitCode: 0,
    });
  });

  test('counts lines in an unknown format', async () => {
    writeFileSync(path, 'garbage\n2026-11-20T14:00:01Z stdout F one\nmore\n');
    await using runtime = await startRuntime();
    const {stdout, stderr, exitCode} = await runKcri(['logs', 'main'], {endpoint: runtime.endpoint});
    expect({stdout, exitCode}).toEqual({stdout: 'one\n', exitCode: 0});
    expect(stderr).toBe(`kcri: warning: skipped 2 lines of "${path}" in an unknown log format\n`);
  });

  test('a slow reader pauses reading', async () => {
    const text = `2026-11-20T14:00:01Z stdout F ${'x'.repeat(90)}\n`.repeat(400_000);
    writeFileSync(path, text);
    await using runtime = await startRuntime();
    const child = spawn(process.execPath, ['-e', SLOW_READER]);
    child.stdin.on('error', () => undefined);
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const stdout = child.stdin as OutputStream;
    const running = main(['logs', 'main'], {
      ...createProcessContext(),
      env: {CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint},
      stdout,
    });
    const watching = setInterval(() => {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }, 5);
    expect(await running).toBe(0);
    clearInterval(watching);
    child.stdin.end();
    const [code] = (await once(child, 'close')) as [number];
    expect(code).toBe(0);
    expect(most).toBeLessThan(16 * 1024 * 1024);
  });

  test.each(['kcri', 'crictl'])('stderr ends with the reader of stdout under the name %s', async (name) => {
    writeFileSync(
      path,
      '2026-11-20T14:00:01Z stdout F out\n2026-11-20T14:00:02Z stderr F err\n'.repeat(1000),
    );
    await using runtime = await startRuntime();
    const child = spawn('sh', ['-c', 'exec 0<&-; echo closed; exec sleep 600'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    await once(child.stdout, 'data');
    const stderr = new PassThrough();
    const exitCode = await main(['logs', runtime.containers[0]?.id ?? ''], {
      ...createProcessContext(),
      calledAs: name === 'crictl' ? 'crictl' : 'kcri',
      env: {CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint, CRI_CONFIG_FILE: '/dev/null'},
      stdout: child.stdin,
      stderr: stderr,
    });
    child.kill('SIGKILL');
    // Line by line, as crictl writes, the first line on stdout ends the command.
    expect({exitCode, seen: stderr.readableLength}).toEqual({exitCode: 0, seen: 0});
  });
});

const SLOW_READER = `
let bytes = 0;
process.stdin.on('data', (chunk) => {
  bytes += chunk.length;
  process.stdin.pause();
  setTimeout(() => process.stdin.resume(), 1);
});
process.stdin.on('end', () => process.exit(bytes === 91 * 400_000 ? 0 : 1));
`;
