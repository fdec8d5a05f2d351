import {execFileSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {chmod, chown, lstat, readFile, stat, writeFile} from 'node:fs/promises';
import {once} from 'node:events';
import {connect as connectHttp2, constants} from 'node:http2';
import {connect as connectSocket} from 'node:net';
import {join} from 'node:path';
import {Client, credentials, Metadata} from '@grpc/grpc-js';
import {describe, expect, test} from 'vitest';
import {containerId} from '../../../src/cri/index.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {runKcri} from '../../cli/run-kcri.js';
import {SANDBOX_CONFIG} from '../../fakes/connected-fake-runtime.js';
import {aContainer, aSandbox, BUSYBOX, FakeRuntime} from '../../fakes/fake-runtime.js';
import {parseLines, startRecorder} from './recorder.js';

const WEB = aSandbox({id: 'e'.repeat(64), name: 'web'});
const MAIN = aContainer({id: 'a'.repeat(64), sandbox: WEB, name: 'main'});
const VERSION = '/runtime.v1.RuntimeService/Version';

/** Makes a call with grpc-js, whose options and metadata kcri's own client lacks. */
async function callVersion(endpoint: string, options: object, metadata = new Metadata()): Promise<void> {
  const client = new Client(endpoint.replace('unix://', 'unix:'), credentials.createInsecure(), options);
  const identity = (bytes: Buffer): Buffer => bytes;
  try {
    // The version's field is a string of 200 characters, which compression shortens.
    const request = Buffer.concat([Buffer.of(0x0a, 200, 1), Buffer.alloc(200, 'v')]);
    await new Promise<void>((resolve, reject) => {
      client.makeUnaryRequest(VERSION, identity, identity, request, metadata, (error) => {
        if (error === null) resolve();
        else reject(error);
      });
    });
  } finally {
    client.close();
  }
}

/** Timeout of a call that exceeds it, in ms. */
const TIMEOUT_MS = 50;

/** Calls ListPodSandbox, and resets the stream once the deadline has passed since the runtime got the call. */
async function exceedDeadline(runtime: FakeRuntime, endpoint: string): Promise<void> {
  const session = connectHttp2('http://localhost', {
    createConnection: () => connectSocket(endpoint.replace('unix://', '')),
  });
  const stream = session.request({
    ...{':method': 'POST', ':path': '/runtime.v1.RuntimeService/ListPodSandbox'},
    ...{'content-type': 'application/grpc', te: 'trailers', 'grpc-timeout': `${TIMEOUT_MS}m`},
  });
  const closed = once(stream, 'close');
  stream.end(Buffer.alloc(5));
  stream.resume();
  await until(() => runtime.callsTo('ListPodSandbox').length === 1);
  const arrivedAt = performance.now();
  await until(() => performance.now() - arrivedAt > TIMEOUT_MS);
  stream.close(constants.NGHTTP2_CANCEL);
  await closed;
  session.close();
}

describe('record', () => {
  // Proves: record, record --listen
  test('writes a line for each call, with its request, response and status', async () => {
    await using runtime = await FakeRuntime.start();
    const {connection, end} = await startRecorder(runtime);
    const {podSandboxId} = await connection.runtime.runPodSandbox({config: SANDBOX_CONFIG});
    const missing = connection.runtime.containerStatus({containerId: containerId('none')});
    await expect(missing).rejects.toThrow('NotFound');
    const {stdout, stderr, exitCode} = await end();
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/^kcri: recording calls to .*\n$/);
    const [header, ...calls] = parseLines(stdout);
    expect(header).toMatchObject({recording: {version: 1, endpoint: runtime.endpoint}});
    expect(calls).toMatchObject([
      {
        call: 1,
        connection: 1,
        service: 'runtime.v1.RuntimeService',
        method: 'RunPodSandbox',
        code: 'OK',
        timeoutMs: expect.any(Number) as number,
        durationMs: expect.any(Number) as number,
        request: {config: {metadata: {name: 'web', namespace: 'default', uid: 'u1'}}},
        response: {podSandboxId},
      },
      {
        call: 2,
        method: 'ContainerStatus',
        code: 'NOT_FOUND',
        error: expect.stringContaining('none') as string,
      },
    ]);
  });

  test('records compressed messages and metadata, without credentials', async () => {
    await using runtime = await FakeRuntime.start();
    const {endpoint, end} = await startRecorder(runtime);
    const metadata = new Metadata();
    metadata.set('traceparent', '00-1-2-01');
    metadata.set('authorization', 'Bearer hidden');
    await callVersion(endpoint, {'grpc.default_compression_algorithm': 2}, metadata);
    const {stdout} = await end();
    expect(stdout).not.toContain('hidden');
    expect(parseLines(stdout)[1]).toMatchObject({
      method: 'Version',
      code: 'OK',
      request: {version: 'v'.repeat(200)},
      metadata: {'grpc-encoding': 'gzip', traceparent: '00-1-2-01', authorization: '***'},
    });
  });

  test('tells cancellations, deadlines and lost connections from errors', async () => {
    await using runtime = await FakeRuntime.start({intercept: ({method}) => blocks(method)});
    const {connection, endpoint, end} = await startRecorder(runtime);
    const abort = new AbortController();
    const canceled = connection.runtime.status({}, {signal: abort.signal});
    await until(() => runtime.callsTo('Status').length === 1);
    abort.abort(new Error('enough'));
    await expect(canceled).rejects.toThrow('enough');
    await exceedDeadline(runtime, endpoint);
    const lost = connection.runtime.listContainers();
    await until(() => runtime.callsTo('ListContainers').length === 1);
    await runtime.crash();
    await expect(lost).rejects.toThrow('Unavailable');
    const {stdout} = await end();
    expect(parseLines(stdout).slice(1)).toMatchObject([
      {method: 'Status', code: 'CANCELLED', endedBy: 'cancellation'},
      {method: 'ListPodSandbox', code: 'DEADLINE_EXCEEDED'},
      {method: 'ListContainers', code: 'UNAVAILABLE', endedBy: 'connection'},
    ]);
  });

  test('records the messages of a stream as they arrive, and calls that are open at the end', async () => {
    await using runtime = await FakeRuntime.start({sandboxes: [WEB], containers: [MAIN]});
    const {connection, end} = await startRecorder(runtime);
    const abort = new AbortController();
    const events = connection.runtime.getContainerEvents({}, {signal: abort.signal})[Symbol.asyncIterator]();
    const next = events.next();
    await until(() => runtime.state.events.listeners > 0);
    runtime.exitContainer(MAIN.id, 3);
    await next;
    const ended = end();
    await expect(events.next()).rejects.toThrow();
    const {stdout} = await ended;
    expect(parseLines(stdout).slice(1)).toMatchObject([
      {call: 1, method: 'GetContainerEvents', message: {containerId: MAIN.id}},
      {call: 1, method: 'GetContainerEvents', messages: 1},
    ]);
  });

  // Proves: record --mask-env
  test.each([
    ['by default', [], 'DB_PASSWORD', 'plain'],
    ['with --mask-env', ['--mask-env'], 'DB_PASSWORD', '***'],
  ])('masks credentials and variables %s', async (_, flags, secretName, shown) => {
    await using runtime = await FakeRuntime.start();
    const {connection, end} = await startRecorder(runtime, flags);
    const auth = {username: 'u', password: 'hidden'};
    await connection.images.pullImage({image: {image: BUSYBOX}, auth}).catch(() => undefined);
    const {podSandboxId} = await connection.runtime.runPodSandbox({config: SANDBOX_CONFIG});
    await connection.runtime.createContainer({
      podSandboxId,
      config: {
        metadata: {name: 'main', attempt: 0},
        image: {image: BUSYBOX},
        envs: [
          {key: secretName, value: Buffer.from('hidden')},
          {key: 'MODE', value: Buffer.from('plain')},
        ],
      },
      sandboxConfig: SANDBOX_CONFIG,
    });
    const {stdout} = await end();
    expect(stdout).not.toContain('hidden');
    expect(stdout).not.toContain(Buffer.from('hidden').toString('base64'));
    const created = parseLines(stdout).find(({method}) => method === 'CreateContainer');
    const value = shown === '***' ? shown : Buffer.from(shown).toString('base64');
    expect(created).toMatchObject({
      request: {
        config: {
          envs: [
            {key: secretName, value: '***'},
            {key: 'MODE', value},
          ],
        },
      },
    });
  });

  test('masks assignments of secrets in the messages of errors', async () => {
    await using runtime = await FakeRuntime.start();
    const message = 'cannot run "login --user=u PASSWORD=hidden"';
    runtime.injectError('Status', {code: 'UNKNOWN', message});
    const {connection, end} = await startRecorder(runtime);
    await expect(connection.runtime.status()).rejects.toThrow('hidden');
    expect(parseLines((await end()).stdout)[1]).toMatchObject({
      code: 'UNKNOWN',
      error: 'cannot run "login --user=u PASSWORD=***"',
    });
  });

  // Proves: record --keep-output
  test('--keep-output records the output of ExecSync, of which otherwise only the length is recorded', async () => {
    await using runtime = await FakeRuntime.start({sandboxes: [WEB], containers: [MAIN]});
    const outputs = await Promise.all(
      [[], ['--keep-output']].map(async (flags) => {
        const {connection, end} = await startRecorder(runtime, flags);
        await connection.runtime.execSync({containerId: containerId(MAIN.id), cmd: ['echo', 'hello']});
        const [, line] = parseLines((await end()).stdout);
        return (line as unknown as {response: {stdout: string}}).response.stdout;
      }),
    );
    expect(outputs).toEqual(['(6 bytes)', Buffer.from('hello\n').toString('base64')]);
  });

  // Proves: record --max-message
  test('--max-message records the length of larger messages in place of their content', async () => {
    await using runtime = await FakeRuntime.start({sandboxes: [WEB]});
    const {connection, end} = await startRecorder(runtime, ['--max-message=10']);
    await connection.runtime.listPodSandbox();
    expect(parseLines((await end()).stdout)[1]).toMatchObject({
      method: 'ListPodSandbox',
      request: {},
      responseOmitted: 'too large',
      responseBytes: expect.any(Number) as number,
    });
  });

  test('--file=- writes the lines to standard output', async () => {
    await using runtime = await FakeRuntime.start();
    const {connection, end} = await startRecorder(runtime, ['--file=-']);
    await connection.runtime.version({version: ''});
    const {stdout, exitCode} = await end();
    expect(exitCode).toBe(0);
    expect(parseLines(stdout).map(({method}) => method)).toContain('Version');
    expect(existsSync('-')).toBe(false);
  });

  // Proves: record --file, record --max-size, record --max-files
  test('--file is rotated by --max-size and keeps --max-files files, each with a header', async () => {
    await using runtime = await FakeRuntime.start();
    const file = join(await temporaryDirectory(), 'calls.jsonl');
    const flags = [`--file=${file}`, '--max-size=4Ki', '--max-files=2'];
    const {connection, end} = await startRecorder(runtime, flags);
    for (let call = 0; call < 60; call += 1) await connection.runtime.version();
    const {stderr, exitCode} = await end();
    expect({stderr, exitCode}).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('60 calls') as string,
    });
    for (const path of [file, `${file}.1`]) {
      const {size, mode} = await stat(path);
      expect(size).toBeLessThanOrEqual(4096);
      expect(mode & 0o777).toBe(0o600);
      expect(parseLines(await readFile(path, 'utf8'))[0]).toHaveProperty('recording');
    }
    await expect(stat(`${file}.2`)).rejects.toThrow('ENOENT');
    expect(parseLines(await readFile(file, 'utf8')).at(-1)).toMatchObject({call: 60});
    const again = await runKcri(['record', `--file=${file}`, '--', 'true'], {endpoint: runtime.endpoint});
    expect(again.stderr).toContain('exists and is not empty');
  });

  test('a pipe stays in its place, whatever its size: it is not rotated', async () => {
    await using runtime = await FakeRuntime.start();
    const pipe = join(await temporaryDirectory(), 'calls');
    execFileSync('mkfifo', [pipe]);
    const read = readFile(pipe, 'utf8');
    const {connection, end} = await startRecorder(runtime, [`--file=${pipe}`, '--max-size=4Ki']);
    for (let call = 0; call < 60; call += 1) await connection.runtime.version();
    expect((await end()).exitCode).toBe(0);
    expect((await lstat(pipe)).isFIFO()).toBe(true);
    expect(parseLines(await read).at(-1)).toMatchObject({call: 60});
  });

  test('a directory is no file to record to', async () => {
    await using runtime = await FakeRuntime.start();
    const directory = await temporaryDirectory();
    const {stderr, exitCode} = await runKcri(['record', `--file=${directory}`, '--', 'true'], {
      endpoint: runtime.endpoint,
    });
    expect(stderr).toContain('illegal operation on a directory');
    expect(exitCode).toBe(1);
  });

  test('a file that is there already is closed to other users, or refused if it is empty no more', async () => {
    await using runtime = await FakeRuntime.start();
    const file = join(await temporaryDirectory(), 'calls.jsonl');
    await writeFile(file, '');
    await chmod(file, 0o666);
    const {end} = await startRecorder(runtime, [`--file=${file}`]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await end()).exitCode).toBe(0);
    await expect(startRecorder(runtime, [`--file=${file}`])).rejects.toThrow('is not empty');
  });

  test.runIf(process.getuid?.() === 0)('a file of another user is refused', async () => {
    await using runtime = await FakeRuntime.start();
    const file = join(await temporaryDirectory(), 'calls.jsonl');
    await writeFile(file, '');
    await chown(file, 1234, 1234);
    await expect(startRecorder(runtime, [`--file=${file}`])).rejects.toThrow('belongs to another user');
  });

  test('a device that takes nothing is an error at once', async () => {
    await using runtime = await FakeRuntime.start();
    await expect(startRecorder(runtime, ['--file=/dev/full'])).rejects.toThrow(
      'writing to "/dev/full": no space left on device',
    );
  });

  test('the runtime may restart: its clients are disconnected and connect again', async () => {
    await using runtime = await FakeRuntime.start();
    const {connection, end, stderr} = await startRecorder(runtime);
    await connection.runtime.version();
    await runtime.crash();
    await until(async () => {
      await expect(connection.runtime.version()).rejects.toThrow('Unavailable');
      return stderr().includes('cannot connect to the runtime: connection refused');
    });
    await runtime.restart();
    await connection.runtime.version();
    expect(stderr()).toContain('connected to the runtime again');
    expect((await end()).exitCode).toBe(0);
  });

  test('a connection that is not gRPC is passed on, with a warning', async () => {
    await using runtime = await FakeRuntime.start();
    const {endpoint, end, stderr} = await startRecorder(runtime);
    const socket = connectSocket(endpoint.replace('unix://', ''));
    socket.on('error', () => undefined);
    socket.end('GET / HTTP/1.1\r\n\r\n');
    await until(() => stderr().includes('is passed on, but not recorded'));
    socket.destroy();
    expect((await end()).exitCode).toBe(0);
  });

  test.each<[string, readonly string[], RegExp]>([
    ['nothing to record', [], /one of --listen, --swap and a program is required/],
    ['two places', ['--swap', '--listen=/x'], /exclude each other/],
    ['a program without a file', ['--', 'true'], /--file or --summary is required/],
    [
      'a program with standard output as its file',
      ['--file=-', '--', 'true'],
      /--file or --summary is required/,
    ],
    ['a summary and lines on standard output', ['--listen=/x', '--file=-', '--summary'], /would both write/],
    ['a size of no file', ['--listen=/x', '--max-size=1Mi'], /require --file/],
    ['a size of standard output', ['--listen=/x', '--file=-', '--max-size=1Mi'], /require --file/],
    ['an invalid size', ['--listen=/x', '--max-message=big'], /invalid --max-message "big"/],
    ['no files', ['--listen=/x', '--file=/y', '--max-files=0'], /--max-files must be 1 or more/],
    ['a format of calls', ['--listen=/x', '-o', 'json'], /--output formats a summary/],
    ['a path that is no socket', ['--listen=/etc/passwd'], /exists and is not a socket/],
    [
      'a directory that does not exist',
      ['--listen=/nonexistent/cri.sock'],
      /^kcri: listening in "\/nonexistent": no such file or directory$/m,
    ],
  ])('%s is an error', async (_, args, message) => {
    await using runtime = await FakeRuntime.start();
    const {stderr, exitCode} = await runKcri(['record', ...args], {endpoint: runtime.endpoint});
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(message);
  });

  test('a missing runtime is an error', async () => {
    const {stderr, exitCode} = await runKcri(['record', '--listen=/tmp/unused.sock'], {
      endpoint: 'unix:///nowhere/cri.sock',
    });
    expect({exitCode, stderr}).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('connecting to the runtime "/nowhere/cri.sock"') as string,
    });
    expect(stderr).toContain('hint: there is no socket at unix:///nowhere/cri.sock; is the runtime running?');
    expect(await runKcri(['record', '--swap'], {endpoint: 'unix:///nowhere/cri.sock'})).toEqual({
      ...{stdout: '', stderr, exitCode},
    });
  });
});

/** Blocks the calls that the test cancels. */
async function blocks(method: string): Promise<void> {
  if (['Status', 'ListPodSandbox', 'ListContainers'].includes(method)) await new Promise(() => undefined);
}
