import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {FakeRuntime, aContainer} from '../fakes/fake-runtime.js';
import {runKcri} from '../cli/run-kcri.js';

const {version} = JSON.parse(readFileSync('package.json', 'utf8')) as {version: string};

describe('kcri', () => {
  test.each([['--version'], ['-v']])('%s prints the version', async (flag) => {
    const stdout = `kcri version v${version}\ncrictl version v1.36.0\n`;
    expect(await runKcri([flag])).toEqual({stdout, stderr: '', exitCode: 0});
  });

  test.each([{}, {KCRI_COMPAT: 'crictl'}])(
    '--version=false and --help=false run the command: %j',
    async (env) => {
      await using runtime = await FakeRuntime.start();
      const {endpoint} = runtime;
      for (const line of [
        '--version=false ps',
        '--version --version=false ps',
        '--help=false ps',
        'ps --help=false',
      ])
        expect(await runKcri(line.split(' '), {endpoint, env})).toMatchObject({
          stdout: expect.stringMatching(/^CONTAINER /) as unknown,
          exitCode: 0,
        });
    },
  );

  test.each([
    [['foo'], '"foo" for "kcri"', 'hint: "kcri --help" lists all commands\n'],
    [['verson'], '"verson" for "kcri"', 'hint: did you mean "kcri version"?\n'],
    [['sycn'], '"sycn" for "kcri"', 'hint: did you mean "kcri sync"?\n'],
    [['help', 'inspct'], '"inspct" for "kcri"', 'hint: did you mean "kcri inspect"?\n'],
    [['apply', '-f', 'web.yaml'], '"apply" for "kcri"', 'hint: use "kcri sync FILE"\n'],
    [['play', 'kube', 'web.yaml'], '"play" for "kcri"', 'hint: use "kcri sync FILE"\n'],
    [['up', '-d'], '"up" for "kcri"', 'hint: use "kcri sync FILE"\n'],
    [
      ['scale', 'deployment/web', '--replicas=3'],
      '"scale" for "kcri"',
      'hint: use "kcri sync FILE --replicas=COUNT"\n',
    ],
    [
      ['rollout', 'restart', 'deployment/web'],
      '"rollout" for "kcri"',
      'hint: use "kcri restart deployment/NAME", or "kcri wait deployment/NAME --for=condition=Ready"\n',
    ],
    [['runtime', 'upp'], '"upp" for "kcri runtime"', ''],
    [['get', 'kublet'], '"kublet" for "kcri get"', 'hint: did you mean "kcri get kubelet"?\n'],
    [['../cli/main'], '"../cli/main" for "kcri"', ''],
  ])('%j is an unknown command and exits with 3', async (args, name, hint) => {
    const {stdout, stderr, exitCode} = await runKcri(args);
    expect(stderr).toContain(`unknown command ${name}\n${hint}`);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 3});
  });

  test('global flags are accepted before and after the command', async () => {
    await using runtime = await FakeRuntime.start();
    const before = await runKcri(['-r', runtime.endpoint, '--timeout', '5s', 'version']);
    const behind = await runKcri(['version', '-t', '5', `--runtime-endpoint=${runtime.socketPath}`]);
    expect(before).toEqual(behind);
    expect(before.stdout).toMatch(
      /^Version: {2}0\.1\.0\nRuntimeName: {2}\S+\nRuntimeVersion: {2}\S+\nRuntimeApiVersion: {2}v1\n$/,
    );
    expect(runtime.calls.map(({method}) => method)).toEqual(['Version', 'Version']);
  });

  test('a global flag after the command overrides one before it', async () => {
    await using runtime = await FakeRuntime.start();
    const {exitCode} = await runKcri(['-r', '/nowhere', 'version', '-r', runtime.endpoint]);
    expect(exitCode).toBe(0);
  });

  test('a short flag of the command takes precedence over a global one', async () => {
    await using runtime = await FakeRuntime.start({containers: [aContainer()]});
    const {exitCode} = await runKcri(['ps', '-r'], {endpoint: runtime.endpoint});
    expect(exitCode).toBe(0);
  });

  test('the endpoint is discovered if none is given', async () => {
    await using runtime = await FakeRuntime.start();
    const {exitCode, stderr} = await runKcri(['version'], {
      wellKnownEndpoints: ['/nowhere', runtime.endpoint],
    });
    expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
  });

  test('--timeout limits the time of a call', async () => {
    await using runtime = await FakeRuntime.start();
    runtime.injectDelay('Version', 5000);
    const {stderr, exitCode} = await runKcri(['-t', '100ms', 'version'], {endpoint: runtime.endpoint});
    // The runtime enforces the deadline too, and its error may arrive first.
    const answer =
      /^kcri: getting the runtime version: no response (?:within [\d.]+s|before the deadline)\nhint: .*--timeout/;
    expect(stderr).toMatch(answer);
    expect(exitCode).toBe(1);
  });

  test('an interrupt ends a waiting call with exit code 130', async () => {
    const {InterruptedError} = await import('../../src/cli/process/interrupt.js');
    await using runtime = await FakeRuntime.start();
    runtime.injectDelay('Version', 60_000);
    const controller = new AbortController();
    const running = runKcri(['version'], {endpoint: runtime.endpoint, signal: controller.signal});
    while (runtime.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
    controller.abort(new InterruptedError('SIGINT'));
    expect(await running).toEqual({stdout: '', stderr: 'kcri: interrupted\n', exitCode: 130});
  });

  test.each([
    [['-t', 'x', 'version'], 'invalid argument "x" for "-t, --timeout" flag: not a duration such as 1m30s'],
    [['--bogus', 'version'], 'unknown flag: --bogus'],
    [['version', 'x'], 'unexpected argument "x"'],
    [['-r', '', 'version'], '--runtime-endpoint is not set'],
    [['-r', 'tcp://1.2.3.4', 'version'], 'the endpoint "tcp://1.2.3.4" has the unsupported protocol "tcp"'],
    [['-c', '/nowhere/c.yaml', 'version'], 'get server config: reading "/nowhere/c.yaml"'],
    [['version'], 'no container runtime found'],
    [
      ['-r', '/nowhere/a.sock', 'version'],
      'getting the runtime version: cannot connect to /nowhere/a.sock: no such file or directory',
    ],
  ])('%j exits with 1, one message and a hint', async (args, message) => {
    const {stdout, stderr, exitCode} = await runKcri(args, {env: {KCRI_ROOT_DIR: '/nowhere'}});
    expect(stderr.startsWith(`kcri: ${message}`)).toBe(true);
    expect(stderr).toContain('\nhint: ');
    expect(stderr).not.toMatch(/^\s+at /m);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
  });

  test('an unknown flag has a suggestion', async () => {
    const {stderr} = await runKcri(['ps', '--no-trunk']);
    expect(stderr).toMatch(/^kcri: unknown flag: --no-trunk\nhint: did you mean --no-trunc\?\n/);
  });

  test('--debug shows the stack of an expected error', async () => {
    const {stderr} = await runKcri(['-D', '-r', '/nowhere/a.sock', 'version']);
    expect(stderr).toMatch(/^\s+at /m);
  });
});
