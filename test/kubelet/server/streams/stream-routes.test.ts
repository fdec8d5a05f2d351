import {once} from 'node:events';
import {createServer as createHttpServer} from 'node:http';
import {createServer} from 'node:net';
import type {Readable} from 'node:stream';
import {text} from 'node:stream/consumers';
import {connect as connectTls} from 'node:tls';
import {describe, expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../../../src/base/clock.js';
import {podUid} from '../../../../src/cri/index.js';
import type {DialOptions, SessionRequest} from '../../../../src/streaming/session/session.js';
import {openSpdySession} from '../../../../src/streaming/spdy/spdy-session.js';
import {listenOnLoopback} from '../../../base/listen-on-loopback.js';
import {openChannelClient} from '../../../e2e/harness/channel-client.js';
import {
  FakeStreamingServer,
  type StreamingServerOptions,
} from '../../../fakes/streaming/fake-streaming-server.js';
import {startFakeWebSocketServer} from '../../../streaming/websocket/fake-websocket-server.js';
import {startServerTestbed, UID, type ServerTestbedOptions, type ServerTestbed} from '../server-testbed.js';

const DIAL: DialOptions = {
  signal: new AbortController().signal,
  clock: systemClock,
  tls: {insecure: true},
  env: {},
};
const STREAMS: SessionRequest = {stdin: true, stdout: true, stderr: true, tty: false};
const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'SPDY/3.1',
  'x-stream-protocol-version': 'v4.channel.k8s.io',
};

async function start(
  streaming: StreamingServerOptions,
  options: ServerTestbedOptions = {},
): Promise<ServerTestbed & {readonly backend: FakeStreamingServer}> {
  const backend = await FakeStreamingServer.start(streaming);
  onTestFinished(() => backend[Symbol.asyncDispose]());
  return {...(await startServerTestbed({...options, runtime: {streamingUrl: backend.url}})), backend};
}

describe('exec and attach', () => {
  test('forward stdin, stdout, stderr and exit code over SPDY', async () => {
    const {servers, runtime} = await start({
      handleSession: async (session) => {
        const [stdin, stdout, stderr] = ['stdin', 'stdout', 'stderr'].map((type) => session.stream(type));
        await stdin?.waitUntil((_text, {isEnded}) => isEnded);
        stdout?.send(`got ${stdin?.received ?? ''}`);
        stderr?.send('bad');
        session.sendExitCode(7);
      },
    });
    const url = `${servers.urls.main}/exec/team/web/main?command=cat&command=-&input=1&output=1&error=1`;
    const session = await openSpdySession(url, STREAMS, DIAL);
    session.stdin?.end('some input');
    const [stdout, stderr] = await Promise.all(
      [session.stdout, session.stderr].map((stream) => textOf(stream)),
    );
    expect({stdout, stderr, result: await session.result}).toEqual({
      stdout: 'got some input',
      stderr: 'bad',
      result: {kind: 'exited', exitCode: 7},
    });
    expect(runtime.callsTo('Exec')[0]?.request).toMatchObject({
      container_id: 'main-id',
      cmd: ['cat', '-'],
      stdin: true,
      stdout: true,
      stderr: true,
    });
  });

  // Proves: Container.tty
  test("attach uses the container's TTY setting", async () => {
    const {servers, runtime} = await start(
      {
        handleSession: (session) => {
          session.sendExitCode(0);
        },
      },
      {tty: true},
    );
    const url = `${servers.urls.main}/attach/team/web/uid-of-web/main?output=1`;
    const session = await openSpdySession(url, {...STREAMS, stdin: false, stderr: false}, DIAL);
    expect(await session.result).toEqual({kind: 'exited', exitCode: 0});
    expect(runtime.callsTo('Attach')[0]?.request).toMatchObject({container_id: 'main-id', tty: true});
  });

  test('work over WebSocket too', async () => {
    const backend = await startFakeWebSocketServer({
      protocols: ['v4.channel.k8s.io'],
      onOpen: (socket) => {
        socket.send(Buffer.from('\u0001hello'));
        socket.send(Buffer.from(`\u0003${JSON.stringify({status: 'Success'})}`));
        socket.close();
      },
    });
    onTestFinished(() => backend[Symbol.asyncDispose]());
    const {servers} = await startServerTestbed({runtime: {streamingUrl: new URL(backend.url).origin}});
    const url = `${servers.urls.main}/exec/team/web/main?command=id&output=1`;
    const {closed, text} = await openChannelClient(url, 'v4.channel.k8s.io');
    await closed;
    expect([text(1), text(3)]).toEqual(['hello', '{"status":"Success"}']);
  });

  test('forward only protocol headers to the runtime', async () => {
    const {url, requests} = await refusingServer();
    const {request: send} = await startServerTestbed({runtime: {streamingUrl: url}});
    const headers = {...UPGRADE, authorization: 'Bearer secret', cookie: 'a=b'};
    await send('/exec/team/web/main?output=1&command=id', {method: 'POST', headers});
    const request = requests.join('\n');
    expect(request).toContain('v4.channel.k8s.io');
    expect(request).not.toMatch(/secret|cookie/i);
  });

  test('a refusal of the runtime closes the connection, so that no other request reaches its server', async () => {
    const {url, requests} = await refusingServer();
    const {servers} = await startServerTestbed({runtime: {streamingUrl: url}});
    const {port} = new URL(servers.urls.main ?? '');
    const socket = connectTls({port: Number(port), host: '127.0.0.1', rejectUnauthorized: false});
    await once(socket, 'secureConnect');
    const lines = Object.entries({host: 'x', ...UPGRADE}).map(([name, value]) => `${name}: ${value}\r\n`);
    const first = `POST /exec/team/web/main?output=1&command=id HTTP/1.1\r\n${lines.join('')}\r\n`;
    socket.write(`${first}POST /exec/another HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1.1 403 [^]*no such protocol$/);
    expect(requests).toHaveLength(1);
    expect(requests.join('')).not.toContain('another');
  });

  test.each([
    ['/exec/team/web/main?command=id', 400, 'you must specify at least 1 of stdin, stdout, stderr'],
    ['/exec/team/nope/main?command=id&output=1', 404, 'pod does not exist'],
    ['/exec/team/web/nope?command=id&output=1', 500, 'container not found ("nope")'],
    ['/attach/team/web/other-uid/main?output=1', 500, 'pod web_team not found'],
    ['/attach/team/web/nope?output=1', 500, 'container nope not found in pod web_team'],
    ['/portForward/team/web/other-uid', 404, 'pod not found'],
  ])('%s is %i', async (path, status, body) => {
    const {request} = await start({});
    expect(await request(path, {method: 'POST', headers: UPGRADE})).toMatchObject({status, body});
  });

  test.each([
    ['/exec/team/web/main', 500, 'Upgrade request required\n'],
    ['/attach/team/web/main', 500, 'Upgrade request required\n'],
    ['/portForward/team/web', 500, 'Upgrade request required\n'],
    ['/exec/team/nope/main', 404, 'pod does not exist'],
    ['/exec/team/web/nope', 500, 'container not found ("nope")'],
  ])('without an upgrade, %s is %i and no session is created', async (path, status, body) => {
    const {request, runtime} = await start({});
    const headers = {upgrade: 'websocket'};
    expect(await request(`${path}?output=1`, {headers})).toMatchObject({status, body});
    for (const method of ['Exec', 'Attach', 'PortForward'] as const)
      expect(runtime.callsTo(method)).toHaveLength(0);
  });

  test('exec ignores a UID in the path', async () => {
    const {request, runtime} = await start({errorResponse: {status: 400, body: 'no'}});
    await request('/exec/team/web/other-uid/main?command=id&output=1', {method: 'POST', headers: UPGRADE});
    expect(runtime.callsTo('Exec')).toHaveLength(1);
  });

  test('never connect to another machine', async () => {
    const {request} = await startServerTestbed({runtime: {streamingUrl: 'http://192.0.2.1:80'}});
    const response = await request('/exec/team/web/main?output=1', {method: 'POST', headers: UPGRADE});
    expect(response.status).toBe(500);
    expect(response.body).toBe("the runtime's streaming server 192.0.2.1:80 is not on this machine");
  });

  test.each([
    ['SPDY', UPGRADE],
    ['WebSocket', {...UPGRADE, upgrade: 'websocket', 'sec-websocket-protocol': 'v4.channel.k8s.io'}],
  ])('do not follow or pass on a redirect of the runtime, over %s', async (_, headers) => {
    let reached = 0;
    const target = createHttpServer().on('connection', () => (reached += 1));
    const location = `http://127.0.0.1:${await listenOnLoopback(target)}/exec/stolen`;
    const redirecting = createHttpServer((_request, response) => {
      response.writeHead(302, {location}).end();
    });
    const streamingUrl = `http://127.0.0.1:${await listenOnLoopback(redirecting)}`;
    onTestFinished(() => void [target, redirecting].map((server) => server.close()));
    const {request} = await startServerTestbed({runtime: {streamingUrl}});
    const response = await request('/exec/team/web/main?output=1&command=id', {method: 'POST', headers});
    expect(response).toMatchObject({status: 500, body: 'invalid upgrade response: status code 302\n'});
    expect(response.headers.location).toBeUndefined();
    expect(reached).toBe(0);
  });

  test('map an error of the runtime to a status', async () => {
    const {request, runtime} = await start({});
    runtime.injectError('Exec', {code: 'RESOURCE_EXHAUSTED', message: 'too many'});
    const {status, headers} = await request('/exec/team/web/main?output=1', {
      method: 'POST',
      headers: UPGRADE,
    });
    expect({status, retry: headers['retry-after']}).toEqual({status: 429, retry: '1'});
  });

  test('are closed after the idle timeout, and when the server stops', async () => {
    const idle = await start({}, {options: {streamingIdleTimeoutMs: 50}});
    const path = '/exec/team/web/main?command=sleep&output=1';
    const only = {...STREAMS, stdin: false, stderr: false};
    const first = await openSpdySession(`${idle.servers.urls.main}${path}`, only, DIAL);
    await expect(first.result).rejects.toThrow();
    const {servers, end} = await start({});
    const second = await openSpdySession(`${servers.urls.main}${path}`, only, DIAL);
    end.abort();
    await expect(second.result).rejects.toThrow();
    await servers.closed;
  });
});

describe('port-forward', () => {
  test('uses the newest sandbox and the ports of a WebSocket request', async () => {
    const {request, runtime} = await start({errorResponse: {status: 400, body: 'no'}});
    await request('/portForward/team/web', {method: 'POST', headers: UPGRADE});
    const webSocket = {...UPGRADE, upgrade: 'websocket'};
    await request('/portForward/team/web?port=80&port=443', {headers: webSocket});
    expect(runtime.callsTo('PortForward').map(({request}) => request)).toMatchObject([
      {pod_sandbox_id: 'sandbox-id'},
      {pod_sandbox_id: 'sandbox-id', port: [80, 443]},
    ]);
    for (const [query, body] of [
      ['', 'query parameter "port" is required'],
      ['?port=', 'query parameter "port" cannot be empty'],
      ['?port=x', 'unable to parse "x" as a port: strconv.ParseUint: parsing "x": invalid syntax'],
      [
        '?port=80,65536',
        'unable to parse "80,65536" as a port: strconv.ParseUint: parsing "65536": value out of range',
      ],
      ['?port=0', 'port "0" must be > 0'],
    ])
      expect(await request(`/portForward/team/web${query}`, {headers: webSocket})).toMatchObject({
        status: 400,
        body,
      });
  });

  test('of a pod without a ready sandbox is 500', async () => {
    const {request, kubelet} = await start({});
    const status = kubelet.runtimeStatus(podUid(UID));
    const sandboxes = status.sandboxes.map((sandbox) => ({...sandbox, state: 'SANDBOX_NOTREADY' as const}));
    kubelet.runtimeStatus = () => ({...status, sandboxes, containers: []});
    expect(await request('/portForward/team/web', {method: 'POST', headers: UPGRADE})).toMatchObject({
      status: 500,
      body: 'pod not found ("web_team")',
    });
  });

  test('forwards all data and the end of the stream', async () => {
    const big = Buffer.alloc(8 * 1024 * 1024, 'x');
    const backend = createServer({allowHalfOpen: true}, (socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n');
        socket.once('data', (received) => socket.end(received.toString() === 'ping' ? big : 'wrong'));
      });
    });
    const streamingUrl = `http://127.0.0.1:${await listenOnLoopback(backend)}`;
    onTestFinished(() => {
      backend.close();
    });
    const {servers} = await startServerTestbed({runtime: {streamingUrl}});
    const {port} = new URL(servers.urls.main ?? '');
    const socket = connectTls({port: Number(port), host: '127.0.0.1', rejectUnauthorized: false});
    await once(socket, 'secureConnect');
    const lines = Object.entries({host: 'x', ...UPGRADE}).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`POST /portForward/team/web HTTP/1.1\r\n${lines.join('')}\r\n`);
    await once(socket, 'readable');
    socket.write('ping');
    const received = await text(socket);
    expect(received.length - received.indexOf('\r\n\r\n') - 4).toBe(big.length);
  });
});

async function textOf(output: Readable | undefined): Promise<string> {
  return output === undefined ? '' : await text(output);
}

/** Starts a streaming server that refuses every upgrade and records method, path and headers of requests. */
async function refusingServer(): Promise<{readonly url: string; readonly requests: readonly string[]}> {
  const requests: string[] = [];
  const server = createHttpServer(({method = '', url = '', rawHeaders}, response) => {
    requests.push(`${method} ${url} ${rawHeaders.join(' ')}`);
    response.writeHead(403).end('no such protocol');
  });
  const url = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {url, requests};
}
