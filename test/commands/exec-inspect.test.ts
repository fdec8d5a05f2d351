import {describe, expect, test} from 'vitest';
import {runKcri} from '../cli/run-kcri.js';
import {FakeRuntime, aContainer, aSandbox, anImage, BUILT_AT_NANOS} from '../fakes/fake-runtime.js';

async function started() {
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

describe('exec', () => {
  test('gives both streams as they are and the exit code', async () => {
    await using runtime = await started();
    const result = await runKcri(['exec', '-s', 'main', 'say', '-x', 'b', '-x', '--'], {
      endpoint: runtime.endpoint,
    });
    expect(result).toEqual({
      stdout: '-x b -x --',
      stderr: 'notekcri: command terminated with exit code 4\n',
      exitCode: 4,
    });
    expect(runtime.callsTo('ExecSync')[0]!.request).toEqual({
      container_id: runtime.containers[0]!.id,
      cmd: ['say', '-x', 'b', '-x', '--'],
    });
  });

  test.each([
    [['--', 'main', 'true']],
    [['main', '--', 'true']],
    [['--timeout', '9', 'web/main', 'true']],
    [['-r', 'overridden', 'main', 'true']],
  ])('%j runs true', async (words) => {
    await using runtime = await started();
    const globals = words[0] === '-r' ? ['-r', runtime.endpoint] : [];
    const args = ['exec', ...globals, ...(words[0] === '-r' ? words.slice(2) : words)];
    expect((await runKcri(args, {endpoint: runtime.endpoint})).exitCode).toBe(0);
    expect(runtime.callsTo('ExecSync')[0]!.request).toMatchObject({cmd: ['true']});
  });

  test('--timeout is the time of the command, not of the call', async () => {
    await using runtime = await started();
    await runKcri(['exec', '--timeout', '9', 'main', 'true'], {endpoint: runtime.endpoint});
    expect(runtime.callsTo('ExecSync')[0]!.request).toMatchObject({timeout: '9'});
  });

  test('with a filter it runs in all that match, with their ids above', async () => {
    await using runtime = await started();
    const [main, server] = runtime.containers;
    const {stdout} = await runKcri(['exec', '--name', '.', 'echo', 'hi'], {endpoint: runtime.endpoint});
    expect(stdout).toBe(`${main!.id}:\nhi\n${server!.id}:\nhi\n`);
    const quiet = await runKcri(['exec', '-q', '--name', '.', 'echo', 'hi'], {endpoint: runtime.endpoint});
    expect(quiet.stdout).toBe('hi\nhi\n');
  });

  test('-e forgives', async () => {
    await using runtime = await started();
    expect((await runKcri(['exec', '-e', 'main', 'false'], {endpoint: runtime.endpoint})).exitCode).toBe(0);
  });

  test.each([
    [['exec'], 'a container and a command are needed'],
    [['exec', 'main'], 'a container and a command are needed'],
    [['exec', '-it', 'main', 'sh'], 'exec with -i or -t is not built into kcri yet'],
    [['exec', '--name', 'zzz', 'true'], 'No containers found per filter flags'],
    [['exec', 'done', 'true'], 'execing command in container "done" synchronously: rpc error'],
    [['exec', '--timeout', '1s', 'main', 'true'], 'invalid value "1s" for flag -timeout: not a whole number'],
  ])('%j ends with 1', async (args, message) => {
    await using runtime = await started();
    const {stderr, exitCode} = await runKcri(args, {endpoint: runtime.endpoint});
    expect(stderr).toContain(`kcri: ${message}`);
    expect(exitCode).toBe(1);
  });
});

interface Inspected {
  readonly status: Readonly<Record<string, unknown>>;
  readonly info?: unknown;
}

describe('inspect', () => {
  test('prints one object with sorted keys and times to read', async () => {
    await using runtime = await started();
    const {stdout} = await runKcri(['inspect', 'done'], {endpoint: runtime.endpoint, env: {TZ: 'UTC'}});
    const {status} = JSON.parse(stdout) as Inspected;
    expect(Object.keys(status)).toEqual(Object.keys(status).toSorted());
    expect(status).toMatchObject({exitCode: 3, state: 'CONTAINER_EXITED'});
    expect(Date.parse(String(status['createdAt']))).toBe(Number(BUILT_AT_NANOS / 1_000_000n));
  });

  test('what has not happened is the zero time', async () => {
    await using runtime = await started();
    const {stdout} = await runKcri(['inspect', 'main'], {endpoint: runtime.endpoint});
    expect((JSON.parse(stdout) as Inspected).status['finishedAt']).toBe('0001-01-01T00:00:00Z');
  });

  test('a bad id does not hide the good ones', async () => {
    await using runtime = await started();
    const {stdout, stderr, exitCode} = await runKcri(['inspect', 'main', 'nope', 'server'], {
      endpoint: runtime.endpoint,
    });
    const names = (JSON.parse(stdout) as Inspected[]).map(
      ({status}) => (status['metadata'] as {name: string}).name,
    );
    expect(names).toEqual(['main', 'server']);
    expect(stderr).toContain('kcri: no such container "nope"');
    expect(exitCode).toBe(1);
  });

  test('without names the filters choose, running ones unless they say otherwise', async () => {
    await using runtime = await started();
    const many = JSON.parse((await runKcri(['inspect'], {endpoint: runtime.endpoint})).stdout) as Inspected[];
    expect(many).toHaveLength(2);
    const {stdout} = await runKcri(['inspect', '-q', '--name', 'done', '-a'], {endpoint: runtime.endpoint});
    expect(Object.keys(JSON.parse(stdout) as Inspected)).toEqual(['status']);
  });

  test('-o table shows the raw state and how long ago', async () => {
    await using runtime = await started();
    const {stdout} = await runKcri(['inspect', '-q', '-o', 'table', 'done'], {endpoint: runtime.endpoint});
    expect(stdout).toMatch(
      /^ID: [0-9a-f]{64}\nName: done\nState: CONTAINER_EXITED\nCreated: .* ago\nStarted: .* ago\nFinished: .* ago\nExit Code: 3\nLabels:\n\tio\.kubernetes/,
    );
  });

  test('-o yaml has the same data', async () => {
    await using runtime = await started();
    const {stdout} = await runKcri(['inspect', '-qo', 'yaml', 'done'], {endpoint: runtime.endpoint});
    expect(stdout).toMatch(/^status:\n {2}annotations: \{\}\n {2}createdAt: /);
    expect(stdout.endsWith('\n\n')).toBe(true);
  });

  test('nothing found is an error', async () => {
    await using runtime = await FakeRuntime.start();
    for (const command of ['inspect', 'inspectp']) {
      const {stderr, exitCode} = await runKcri([command], {endpoint: runtime.endpoint});
      expect(stderr).toContain('kcri: No IDs provided or nothing found per filter');
      expect(exitCode).toBe(1);
    }
  });
});

describe('inspectp and inspecti', () => {
  test('inspectp shows a pod by its name', async () => {
    await using runtime = await started();
    const {stdout} = await runKcri(['inspectp', 'web'], {endpoint: runtime.endpoint});
    expect((JSON.parse(stdout) as Inspected).status).toMatchObject({
      metadata: {name: 'web'},
      state: 'SANDBOX_READY',
      network: {ip: '10.244.0.2'},
    });
  });

  test('inspectp -o table shows addresses', async () => {
    await using runtime = await started();
    const {stdout} = await runKcri(['inspectp', '-o', 'table', 'web'], {endpoint: runtime.endpoint});
    expect(stdout).toMatch(
      /\nAttempt: 0\nStatus: SANDBOX_READY\nCreated: 2026-05-01 .*\nIP Addresses: 10\.244\.0\.2\n/,
    );
  });

  test('inspecti shows an image', async () => {
    await using runtime = await FakeRuntime.start({images: [anImage()]});
    const {stdout} = await runKcri(['inspecti', '-q', 'localhost:5000/busybox:1'], {
      endpoint: runtime.endpoint,
    });
    expect((JSON.parse(stdout) as Inspected).status).toMatchObject({
      repoTags: ['localhost:5000/busybox:1'],
      pinned: false,
      size: '2165000',
    });
  });

  test('inspecti of an image that is not there says so', async () => {
    await using runtime = await FakeRuntime.start({images: [anImage()]});
    const {stderr, exitCode} = await runKcri(['inspecti', 'nope'], {endpoint: runtime.endpoint});
    expect(stderr).toContain('kcri: no such image "nope" present');
    expect(exitCode).toBe(1);
  });

  test('inspecti --name filters', async () => {
    await using runtime = await FakeRuntime.start({images: [anImage()]});
    expect((await runKcri(['inspecti', '--name', 'nope'], {endpoint: runtime.endpoint})).exitCode).toBe(1);
    expect(
      (await runKcri(['inspecti', '--name', 'localhost:5000/busybox'], {endpoint: runtime.endpoint}))
        .exitCode,
    ).toBe(0);
  });
});

test('info shows the status with sorted keys', async () => {
  await using runtime = await FakeRuntime.start();
  const {stdout} = await runKcri(['info'], {endpoint: runtime.endpoint});
  const info = JSON.parse(stdout) as Inspected;
  expect(Object.keys(info)).toEqual(Object.keys(info).toSorted());
  expect(info.status['conditions']).toEqual(
    expect.arrayContaining([expect.objectContaining({type: 'RuntimeReady', status: true})]),
  );
});
