import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {text} from 'node:stream/consumers';
import {describe, expect, onTestFinished, test} from 'vitest';
import {runKcri, type RunOptions, type RunResult} from '../../cli/run-kcri.js';
import {FakeRuntime, aContainer, aSandbox, BUILT_AT_NANOS} from '../../fakes/fake-runtime.js';
import {FakeStreamingServer, type ServerSession} from '../../fakes/streaming/fake-streaming-server.js';
import {KCRI_COMMAND} from '../../kcri-command.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import {until} from '../../base/until.js';

type SessionHandler = (session: ServerSession) => Promise<void> | void;

async function startRuntime(handler: SessionHandler) {
  const server = await FakeStreamingServer.start({handleSession: handler});
  const [web, api] = [aSandbox({name: 'web'}), aSandbox({name: 'api'})];
  const runtime = await FakeRuntime.start({
    streamingUrl: server.url,
    sandboxes: [web, api],
    containers: [
      aContainer({sandbox: web, name: 'main', createdAt: BUILT_AT_NANOS + 5n, labels: {app: 'x'}}),
      aContainer({sandbox: api, name: 'server', labels: {app: 'x'}}),
    ],
  });
  onTestFinished(async () => {
    await runtime.stop();
    await server[Symbol.asyncDispose]();
  });
  const kcri = (args: readonly string[], options: RunOptions = {}): Promise<RunResult> =>
    runKcri(args, {endpoint: runtime.endpoint, ...options});
  return {runtime, server, kcri};
}

const exitWith =
  (exitCode: number, stdout = '', stderr = ''): SessionHandler =>
  (session) => {
    if (stdout !== '') session.stream('stdout').send(stdout);
    if (stderr !== '') session.streams.get('stderr')?.send(stderr);
    session.sendExitCode(exitCode);
  };

describe('exec', () => {
  test("separates the outputs and exits with the command's exit code", async () => {
    const {kcri, runtime} = await startRuntime(exitWith(7, 'out\n', 'err\n'));
    expect(await kcri(['exec', 'main', 'sh', '-c', 'x'])).toEqual({
      stdout: 'out\n',
      stderr: 'err\n',
      exitCode: 7,
    });
    expect(runtime.callsTo('Exec')[0]!.request).toEqual({
      container_id: runtime.containers[0]!.id,
      cmd: ['sh', '-c', 'x'],
      stdout: true,
      stderr: true,
    });
  });

  test('-i passes on standard input and its end', async () => {
    const {kcri, runtime} = await startRuntime(async (session) => {
      await session.stream('stdin').waitUntil((_text, {isEnded}) => isEnded);
      await exitWith(0, session.stream('stdin').received)(session);
    });
    expect((await kcri(['exec', '-i', 'main', 'cat'], {stdin: 'words'})).stdout).toBe('words');
    expect(runtime.callsTo('Exec')[0]!.request).toMatchObject({stdin: true});
  });

  // Proves: attach --detach-keys
  test('prints all output if the runtime closes unread input', async () => {
    const {runtime} = await startRuntime(async (session) => {
      await session.stream('stdin').waitUntil((read) => read.length > 0);
      await exitWith(0, 'x')(session);
      session.hangUp();
    });
    const [program, ...before] = KCRI_COMMAND;
    for (let round = 0; round < 10; round++) {
      const kcri = spawn(program, [...before, 'exec', '-i', 'main', 'head'], {
        env: {...process.env, CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint},
      });
      const exited = once(kcri, 'close');
      kcri.stdin.on('error', () => undefined).end('x'.repeat(4 * 1024 * 1024));
      const [stdout, stderr] = await Promise.all([text(kcri.stdout), text(kcri.stderr)]);
      expect({stdout, stderr, exited: await exited}).toEqual({stdout: 'x', stderr: '', exited: [0, null]});
    }
  });

  test('-it without a terminal continues without one, with a warning', async () => {
    const {kcri, runtime} = await startRuntime(exitWith(0));
    const {stderr, exitCode} = await kcri(['exec', '-it', 'main', 'sh']);
    expect(stderr).toContain('warning: standard input is not a terminal');
    expect(exitCode).toBe(0);
    expect(runtime.callsTo('Exec')[0]!.request).not.toMatchObject({tty: true});
  });

  test('-t alone allocates a terminal without input', async () => {
    const {kcri, runtime} = await startRuntime(exitWith(0, 'colours'));
    expect((await kcri(['exec', '-t', 'main', 'ls'])).stdout).toBe('colours');
    expect(runtime.callsTo('Exec')[0]!.request).toMatchObject({tty: true, stdout: true});
    expect(runtime.callsTo('Exec')[0]!.request).not.toHaveProperty('stderr');
  });

  test.each([
    ['exec: "nosuch": executable file not found in $PATH: unknown', 127],
    ['exec: "/no/such": stat /no/such: no such file or directory: unknown', 127],
    ['exec: "/etc": permission denied: unknown', 126],
    ['exec: "/etc": is a directory: unknown', 126],
    ['executable file `nosuch` not found: No such file or directory: unknown', 127],
    ['something else', 1],
  ])('exits like a shell if the runtime reports %s', async (text, code) => {
    const message = `error executing command in container: OCI runtime exec failed: ${text}`;
    const {kcri} = await startRuntime((session) => {
      session.sendStatus({status: 'Failure', reason: 'InternalError', message});
    });
    const {stderr, exitCode} = await kcri(['exec', 'main', 'nosuch']);
    expect(exitCode).toBe(code);
    expect(stderr).toMatch(/^kcri: running "nosuch" in container "main": /);
    const hint = '\nhint: "kcri debug --image=busybox main" runs a shell with tools';
    expect(stderr.includes(hint)).toBe(code === 127);
  });

  test('reports a lost connection after the received output', async () => {
    const {kcri} = await startRuntime(async (session) => {
      session.stream('stdout').send('half');
      await session.stream('stdin').waitUntil((text) => text !== '');
      session.crash();
    });
    let seen = '';
    const result = await kcri(['exec', '-i', 'main', 'cat'], {
      stdin: 'x',
      onStdout: (text) => (seen += text),
    });
    expect(result.exitCode).toBe(1);
    expect(result.stderr).toContain('was lost before the result of the command');
    expect(result.stderr).toContain('hint: the command may still be running in the container');
    expect(['', 'half']).toContain(seen);
  });

  test('--timeout exits with 124', async () => {
    const clock = new FakeClock();
    const {kcri, server} = await startRuntime(() => undefined);
    const result = kcri(['exec', '--timeout', '3', 'main', 'sleep', '9'], {clock});
    await until(() => (server.sessions[0]?.streams.size ?? 0) > 0);
    await clock.advance(3000);
    expect(await result).toMatchObject({exitCode: 124});
    expect((await result).stderr).toMatch(
      /timed out after 3s\nhint: the command may still be running in the container/,
    );
  });

  test('ends immediately if interrupted', async () => {
    const controller = new AbortController();
    const {kcri, server} = await startRuntime(() => undefined);
    const result = kcri(['exec', 'main', 'sleep', '9'], {signal: controller.signal});
    await until(() => (server.sessions[0]?.streams.size ?? 0) > 0);
    const {InterruptedError} = await import('../../../src/cli/process/interrupt.js');
    controller.abort(new InterruptedError('SIGTERM'));
    expect(await result).toMatchObject({exitCode: 143});
  });

  // Proves: exec --label, exec --name
  test('runs in several containers in turn below their IDs, or concurrently with prefixes', async () => {
    const {kcri, runtime} = await startRuntime(exitWith(3, 'one\ntwo', 'note\n'));
    const [main, server] = runtime.containers.map(({id}) => id);
    const inTurn = await kcri(['exec', '--label', 'app=x', 'hostname']);
    expect(inTurn.stdout).toBe(`${main!}:\none\ntwo${server!}:\none\ntwo`);
    expect(inTurn.stderr).toContain(`kcri: the command exited with 3 in container "${main!}"`);
    expect(inTurn.exitCode).toBe(3);
    const {stdout} = await kcri(['exec', '-x', '--label', 'app=x', 'hostname']);
    const prefixed = [main!, server!].flatMap((id) =>
      ['one', 'two'].map((line) => `[${id.slice(0, 13)}] ${line}`),
    );
    expect(stdout.trimEnd().split('\n').toSorted()).toEqual(prefixed.toSorted());
    expect((await kcri(['exec', '-q', '--name', '^main$', 'hostname'])).stdout).toBe('one\ntwo');
  });

  // Proves: exec --env, exec --workdir
  test('--user, --env and --workdir wrap the command', async () => {
    const {kcri, runtime} = await startRuntime(exitWith(0));
    await kcri(['exec', '--env', 'A=b c', '--env', 'D=e', '--workdir', '/srv', 'main', 'ls', '-la']);
    const {cmd} = runtime.callsTo('Exec')[0]!.request as {cmd: string[]};
    expect(cmd.slice(3)).toEqual(['sh', '/srv', 'env', 'A=b c', 'D=e', 'ls', '-la']);
  });

  test.each([
    [['exec', '-s', '-i', 'main', 'cat'], '--sync cannot be combined with -i or -t'],
    [['exec', '--env', 'novalue', 'main', 'cat'], 'invalid --env "novalue": must be NAME=VALUE'],
    [['exec', '-i', '--label', 'app=x', 'cat'], '-i and -t require exactly one container, but 2 match'],
    [
      ['exec', '-r', 'pigeon', 'main', 'cat'],
      'invalid --transport "pigeon": must be one of auto, spdy, websocket',
    ],
    [['exec', '--detach-keys', 'ctrl-1', '-it', 'main', 'sh'], '--detach-keys: "ctrl-1" is not a key'],
    [['exec', '--tls-cert', 'x', 'main', 'sh'], '--tls-cert and --tls-key must be set together'],
    [['exec', '--timeout', '-1', 'main', 'sh'], '--timeout must not be negative'],
  ])('%j is rejected', async (args, message) => {
    const {kcri} = await startRuntime(exitWith(0));
    const {stderr, exitCode} = await kcri(args);
    expect(stderr).toContain(message);
    expect(exitCode).toBe(1);
  });

  test('auto uses WebSocket only if the server does not support SPDY, with a new URL', async () => {
    const server = await FakeStreamingServer.start({errorResponse: {status: 400, body: 'no SPDY here'}});
    const runtime = await FakeRuntime.start({
      streamingUrl: server.url,
      containers: [aContainer({sandbox: aSandbox({name: 'web'}), name: 'main'})],
    });
    onTestFinished(async () => {
      await runtime.stop();
      await server[Symbol.asyncDispose]();
    });
    const {stderr} = await runKcri(['exec', 'main', 'true'], {endpoint: runtime.endpoint});
    expect(stderr).toContain('no SPDY here');
    expect(runtime.callsTo('Exec')).toHaveLength(2);
    await runKcri(['exec', '-r', 'spdy', 'main', 'true'], {endpoint: runtime.endpoint});
    expect(runtime.callsTo('Exec')).toHaveLength(3);
  });
});

describe('exec as crictl', () => {
  const env = {KCRI_COMPAT: 'crictl'};

  test('exits with 1 for any exit code of the command, and logs it', async () => {
    const {kcri, runtime} = await startRuntime(exitWith(7, 'out\n'));
    const {id} = runtime.containers[0]!;
    const {stdout, stderr, exitCode} = await kcri(['exec', id, 'false'], {env});
    expect(stdout).toBe('out\n');
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      `level=error msg="execing command in container ${id}: command terminated with exit code 7"`,
    );
  });

  test.each([
    [['-t'], 'tty=true must be specified with interactive=true'],
    [['-it'], 'input is not a terminal'],
    [['-r', 'pigeon'], 'get executor: unknown transport: pigeon'],
  ])("%j is rejected by crictl after the runtime's response", async (flags, message) => {
    const {kcri, runtime} = await startRuntime(exitWith(0));
    const {id} = runtime.containers[0]!;
    const {stderr, exitCode} = await kcri(['exec', ...flags, id, 'sh'], {env});
    expect(stderr).toContain(`execing command in container ${id}: ${message}`);
    expect(exitCode).toBe(1);
    expect(runtime.callsTo('Exec')).toHaveLength(1);
  });
});

describe('attach', () => {
  test("prints the output and exits with the container's exit code", async () => {
    const {kcri, runtime} = await startRuntime(async (session) => {
      runtime.exitContainer(runtime.containers[0]!.id, 5);
      await exitWith(0, 'last words\n')(session);
    });
    expect(await kcri(['attach', 'main'])).toEqual({stdout: 'last words\n', stderr: '', exitCode: 5});
  });

  test.each([
    [['attach'], 'specify a container or a pod'],
    [['attach', 'main', 'server'], 'attach requires exactly one container'],
    [['attach', 'nobody'], 'no such container "nobody"'],
  ])('%j is rejected', async (args, message) => {
    const {kcri} = await startRuntime(exitWith(0));
    const {stderr, exitCode} = await kcri(args);
    expect(stderr).toContain(message);
    expect(exitCode).toBe(1);
  });
});
