import {once} from 'node:events';
import {connect, type Socket} from 'node:net';
import {TLSSocket} from 'node:tls';
import {describe, expect, onTestFinished, test} from 'vitest';
import {InterruptedError} from '../../../src/cli/process/interrupt.js';
import {containerId} from '../../../src/cri/index.js';
import {until} from '../../base/until.js';
import {runKcri} from '../../cli/run-kcri.js';
import {aContainer, aSandbox, FakeRuntime} from '../../fakes/fake-runtime.js';
import {FakeStreamingServer, type ServerSession} from '../../fakes/streaming/fake-streaming-server.js';
import {CERTIFICATE, KEY} from '../../fakes/streaming/test-certificate.js';
import {
  answering,
  readAll,
  startFakePortForwardServer,
} from '../../streaming/port-forward/fake-port-forward-server.js';
import {onChannel, startFakeWebSocketServer} from '../../streaming/websocket/fake-websocket-server.js';
import {parseLines, startRecorder, type RecordedLine} from './recorder.js';

const WEB = aSandbox({name: 'web'});
const MAIN = aContainer({sandbox: WEB, name: 'main'});
const KEEPS = ['--streams', '--keep-output', '--keep-input'];

async function aRuntime(streamingUrl: string): Promise<FakeRuntime> {
  const runtime = await FakeRuntime.start({streamingUrl, sandboxes: [WEB], containers: [MAIN]});
  onTestFinished(() => runtime.stop());
  return runtime;
}

async function aStreamingServer(
  handleSession: (session: ServerSession) => Promise<void> | void,
  wrapSocket?: (socket: Socket) => Socket,
): Promise<FakeStreamingServer> {
  const server = await FakeStreamingServer.start({handleSession, ...(wrapSocket && {wrapSocket})});
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

/** Answers with what it was sent, in capitals, and exits with 3. */
async function shout(session: ServerSession): Promise<void> {
  const stdin = session.stream('stdin');
  await stdin.waitUntil((_text, {isEnded}) => isEnded);
  session.stream('stdout').send(stdin.received.toUpperCase());
  session.sendExitCode(3);
}

const sessionLines = (stdout: string): readonly RecordedLine[] =>
  parseLines(stdout).filter((line) => 'session' in line);
const data = (stdout: string, stream: string): readonly RecordedLine[] =>
  sessionLines(stdout).filter((line) => line['event'] === 'data' && line['stream'] === stream);

describe('record --streams', () => {
  // Proves: record --streams, record --keep-input
  test('records a session of exec over SPDY, and the client gets every byte', async () => {
    const server = await aStreamingServer(shout);
    const runtime = await aRuntime(server.url);
    const recorder = await startRecorder(runtime, KEEPS);
    const exec = await runKcri(['exec', '-i', 'main', 'x'], {endpoint: recorder.endpoint, stdin: 'words'});
    expect(exec).toMatchObject({stdout: 'WORDS', exitCode: 3});
    const {stdout} = await recorder.end();
    const lines = sessionLines(stdout);
    const call = parseLines(stdout).find(({method, ...line}) => method === 'Exec' && 'service' in line)!;
    expect(call).toMatchObject({response: {url: `${server.url}/exec/***`}});
    expect(lines[0]).toMatchObject({event: 'start', session: 1, call: call['call'], method: 'Exec'});
    expect(lines[0]).toMatchObject({protocol: 'SPDY/3.1'});
    expect(data(stdout, 'stdin')).toMatchObject([{from: 'client', bytes: 5, text: 'words', end: true}]);
    expect(data(stdout, 'stdout')[0]).toMatchObject({from: 'server', bytes: 5, text: 'WORDS'});
    expect(data(stdout, 'error')[0]).toMatchObject({text: expect.stringContaining('ExitCode') as string});
    expect(lines.at(-1)).toMatchObject({event: 'end', status: 101, subprotocol: 'v4.channel.k8s.io'});
    expect(lines.at(-1)).toMatchObject({durationMs: expect.any(Number) as number, bytes: {client: 5}});
  });

  test('records only lengths, times and the result without further flags', async () => {
    const server = await aStreamingServer(shout);
    const runtime = await aRuntime(server.url);
    const recorder = await startRecorder(runtime, ['--streams']);
    await runKcri(['exec', '-i', 'main', 'x'], {endpoint: recorder.endpoint, stdin: 'hidden'});
    const {stdout} = await recorder.end();
    expect(stdout.toLowerCase()).not.toContain('hidden');
    expect(data(stdout, 'stdin')).toMatchObject([{bytes: 6}]);
    expect(data(stdout, 'stdout')[0]).toMatchObject({bytes: 6});
    expect(data(stdout, 'error')[0]).toMatchObject({text: expect.stringContaining('"3"') as string});
  });

  test('masks assignments of secrets, and omits what is larger than --max-message', async () => {
    const server = await aStreamingServer((session) => {
      session.stream('stdout').send('API_TOKEN=abc123\n');
      session.stream('stderr').send('e'.repeat(100));
      session.sendExitCode(0);
    });
    const runtime = await aRuntime(server.url);
    const recorder = await startRecorder(runtime, [...KEEPS, '--max-message=50']);
    await runKcri(['exec', 'main', 'x'], {endpoint: recorder.endpoint});
    const {stdout} = await recorder.end();
    expect(data(stdout, 'stdout')[0]).toMatchObject({text: 'API_TOKEN=***\n'});
    expect(data(stdout, 'stderr')[0]).toMatchObject({bytes: 100, contentOmitted: 'too large'});
    expect(data(stdout, 'stderr')[0]).not.toHaveProperty('text');
  });

  test('records a WebSocket with its channels', async () => {
    await using server = await startFakeWebSocketServer({
      protocols: ['v5.channel.k8s.io'],
      onOpen: (socket) => {
        socket.on('message', (message) => {
          if ((message as Buffer)[0] !== 255) return;
          socket.send(onChannel(1, Buffer.of(0xff, 0xfe)));
          socket.send(onChannel(3, '{"status":"Success"}'));
          socket.close(1000);
        });
      },
    });
    const runtime = await aRuntime(new URL(server.url).origin);
    const recorder = await startRecorder(runtime, KEEPS);
    await runKcri(['exec', '-i', '--transport=websocket', 'main', 'x'], {
      endpoint: recorder.endpoint,
      stdin: 'words',
    });
    const {stdout} = await recorder.end();
    expect(sessionLines(stdout)[0]).toMatchObject({protocol: 'websocket'});
    expect(data(stdout, 'stdin')).toMatchObject([{text: 'words', end: true}]);
    expect(data(stdout, 'stdout')).toMatchObject([{bytes: 2, base64: '//4='}]);
    expect(data(stdout, 'error')).toMatchObject([{text: '{"status":"Success"}'}]);
    expect(sessionLines(stdout).at(-1)).toMatchObject({subprotocol: 'v5.channel.k8s.io'});
  });

  test('connects with TLS to a runtime whose URL has https', async () => {
    const server = await aStreamingServer(
      shout,
      (socket) => new TLSSocket(socket, {isServer: true, cert: CERTIFICATE, key: KEY}),
    );
    const runtime = await aRuntime(server.url.replace('http:', 'https:'));
    const recorder = await startRecorder(runtime, KEEPS);
    const exec = await runKcri(['exec', '-i', 'main', 'x'], {endpoint: recorder.endpoint, stdin: 'a'});
    expect(exec).toMatchObject({stdout: 'A', exitCode: 3});
    const {stdout} = await recorder.end();
    expect(data(stdout, 'stdout')[0]).toMatchObject({text: 'A'});
  });

  test('records the connections of port-forward with their ports', async () => {
    await using streaming = await startFakePortForwardServer({onRequest: answering('hello')});
    const runtime = await aRuntime(streaming.base);
    const recorder = await startRecorder(runtime, KEEPS);
    const stop = new AbortController();
    let output = '';
    const running = runKcri(['port-forward', 'web', ':80'], {
      endpoint: recorder.endpoint,
      signal: stop.signal,
      onStdout: (text) => (output += text),
    });
    await Promise.race([running, until(() => output.includes(' -> 80\n'))]);
    const socket = connect({port: Number(/127\.0\.0\.1:(\d+) ->/.exec(output)?.[1]), host: '127.0.0.1'});
    socket.write('hello?');
    expect(await readAll(socket)).toBe('hello');
    stop.abort(new InterruptedError('SIGINT'));
    await running;
    const {stdout} = await recorder.end();
    expect(sessionLines(stdout)[0]).toMatchObject({method: 'PortForward'});
    const [sent, received] = ['client', 'server'].map((from) =>
      data(stdout, 'data').find((line) => line['from'] === from && line['bytes'] !== 0),
    );
    expect(sent).toMatchObject({port: 80, request: '0', text: 'hello?'});
    expect(received).toMatchObject({port: 80, text: 'hello'});
  });

  test('a URL can be used once, and ends with the recording', async () => {
    const server = await aStreamingServer(() => undefined);
    const runtime = await aRuntime(server.url);
    const recorder = await startRecorder(runtime, ['--streams']);
    const {url} = await recorder.connection.runtime.exec({
      containerId: containerId(MAIN.id),
      cmd: ['x'],
      stdout: true,
    });
    expect(new URL(url).port).not.toBe(String(server.port));
    const upgrade = {
      Connection: 'Upgrade',
      Upgrade: 'SPDY/3.1',
      'X-Stream-Protocol-Version': 'v4.channel.k8s.io',
    };
    const first = await openSession(url, upgrade);
    expect(first.head).toContain('101 Switching Protocols');
    expect((await openSession(url, upgrade)).head).toContain('404 Not Found');
    const closed = once(first.socket, 'close');
    const {stdout} = await recorder.end();
    await closed;
    expect(sessionLines(stdout)).toMatchObject([{event: 'start'}, {event: 'end', endedBy: 'recording'}]);
  });

  test.each([
    ['of another machine', 'http://192.0.2.1:4000', 'not on this machine'],
    ['that is very long', `http://127.0.0.1:4000/${'x'.repeat(17_000)}`, 'too long'],
  ])('passes a URL %s on as it is, and says why', async (_, streamingUrl, reason) => {
    const runtime = await aRuntime(streamingUrl);
    const recorder = await startRecorder(runtime, ['--streams']);
    const {url} = await recorder.connection.runtime.exec({
      containerId: containerId(MAIN.id),
      cmd: ['x'],
      stdout: true,
    });
    expect(url.startsWith(`${streamingUrl}/exec/`)).toBe(true);
    const {stdout} = await recorder.end();
    const omitted = parseLines(stdout).find((line) => 'sessionOmitted' in line);
    expect(omitted).toMatchObject({
      call: 1,
      method: 'Exec',
      sessionOmitted: expect.stringContaining(reason) as string,
    });
  });

  test('without it the URL is that of the runtime', async () => {
    const runtime = await aRuntime('http://127.0.0.1:4000');
    const recorder = await startRecorder(runtime);
    const {url} = await recorder.connection.runtime.exec({
      containerId: containerId(MAIN.id),
      cmd: ['x'],
      stdout: true,
    });
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:4000\/exec\//);
    await recorder.end();
  });

  test.each([
    [['--keep-input'], '--keep-input requires --streams'],
    [['--streams', '--summary'], '--streams requires --file with --summary'],
  ])('%j is refused', async (args, message) => {
    const {stderr, exitCode} = await runKcri(['record', '--swap', ...args]);
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain(message);
  });
});

/** Opens a session as a client does, and returns the head of the response. */
async function openSession(url: string, headers: Readonly<Record<string, string>>) {
  const {hostname, port, pathname} = new URL(url);
  const socket = connect({host: hostname, port: Number(port)});
  onTestFinished(() => void socket.destroy());
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST ${pathname} HTTP/1.1\r\nHost: x\r\n${lines.join('')}\r\n`);
  let head = '';
  socket.on('data', (chunk) => (head += String(chunk)));
  await until(() => head.includes('\r\n\r\n'));
  return {socket, head};
}
