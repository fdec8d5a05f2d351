import {request as httpRequest, type IncomingMessage} from 'node:http';
import {text} from 'node:stream/consumers';
import {gzipSync} from 'node:zlib';
import {expect, onTestFinished, test} from 'vitest';
import {aborted} from '../../../../src/base/async/aborted.js';
import {SystemError} from '../../../../src/base/errors.js';
import {BODY_DEADLINE_MS} from '../../../../src/features/ui/server/read-json-body.js';
import {sessionRoute} from '../../../../src/features/ui/routes/session-route.js';
import {Page} from '../../../../src/features/ui/server/page.js';
import {RequestError} from '../../../../src/features/ui/server/request-error.js';
import {MAX_SESSIONS, Sessions} from '../../../../src/features/ui/server/sessions.js';
import {STALL_LIMIT_MS} from '../../../../src/features/ui/server/text-sink.js';
import type {UiRoute} from '../../../../src/features/ui/server/ui-request.js';
import {startUiServer} from '../../../../src/features/ui/ui-server.js';
import {until} from '../../../base/until.js';
import {FakeClock} from '../../../fakes/fake-clock.js';
import {connectClient} from '../../../http-server/http-client.js';

const FILES = new Map([
  ['index.html', '<!doctype html>'],
  ['app.js', 'export {};'],
]);

async function started(routes: readonly UiRoute[] = []) {
  const clock = new FakeClock();
  const sessions = new Sessions(clock);
  const bugs: unknown[] = [];
  const stop = new AbortController();
  const page = new Page(
    async () => await Promise.resolve(new Map([...FILES].map(([name, file]) => [name, gzipSync(file)]))),
  );
  const server = await startUiServer({
    address: '127.0.0.1',
    port: 0,
    tls: undefined,
    sessions,
    clock,
    routes: [sessionRoute(sessions, {version: '1', allowed: []}), ...routes],
    findFile: async (name) => await page.find(name),
    signal: stop.signal,
    safe: (message) => `safe ${message}`,
    onBug: (error) => bugs.push(error),
  });
  onTestFinished(async () => {
    stop.abort();
    await server.close();
  });
  const {host, origin} = new URL(server.url);
  const key = sessions.redeem(sessions.createToken()) ?? '';
  const send = async (
    path: string,
    {
      method = 'GET',
      headers = {},
      body,
    }: {method?: string; headers?: Record<string, string>; body?: string} = {},
  ): Promise<Answer> =>
    await new Promise((resolve, reject) => {
      const sent = httpRequest(new URL(path, server.url), {method, headers, agent: false}, (response) => {
        void answerOf(response).then(resolve, reject);
      });
      sent.on('error', reject);
      sent.end(body);
    });
  return {clock, sessions, bugs, server, host, origin, key, send, bearer: {authorization: `Bearer ${key}`}};
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

async function answerOf(response: IncomingMessage): Promise<Answer> {
  const {statusCode: status, headers} = response;
  return {status, headers, body: await text(response)};
}

const answering = (value: unknown): UiRoute => ({
  method: 'GET',
  path: '/api/x',
  handle: async () => await Promise.resolve({kind: 'json', value}),
});

test('every answer has the headers that keep the page apart from others', async () => {
  const {send, bearer} = await started([answering(1)]);
  const answers = [
    await send('/'),
    await send('/api/x', {headers: bearer}),
    await send('/nothing'),
    await send('/', {headers: {host: 'evil.example'}}),
    await send('/api/x'),
  ];
  expect(answers.map(({status}) => status)).toEqual([200, 200, 404, 421, 401]);
  for (const {headers} of answers) {
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(headers['set-cookie']).toBeUndefined();
    expect(headers['access-control-allow-origin']).toBeUndefined();
    const policy = headers['content-security-policy']?.toString().split('; ') ?? [];
    expect(policy).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "form-action 'none'",
        "base-uri 'none'",
      ]),
    );
    expect(policy.join()).not.toMatch(/unsafe|\*/);
  }
});

test('files are sent as they are, or compressed to those who take it', async () => {
  const {send} = await started();
  expect(await send('/')).toMatchObject({
    body: '<!doctype html>',
    headers: {'content-type': 'text/html; charset=utf-8'},
  });
  const {headers} = await send('/app.js', {headers: {'accept-encoding': 'br, gzip'}});
  expect(headers).toMatchObject({
    'content-encoding': 'gzip',
    'content-type': 'text/javascript; charset=utf-8',
    vary: 'accept-encoding',
  });
});

test.each([
  '/app.css',
  '/../package.json',
  '/..%2fpackage.json',
  '//etc/passwd',
  '/index.html/',
  '/%00',
  '/__proto__',
])('there is no file %s', async (path) => {
  const {server} = await started();
  const client = await connectClient(server.url);
  client.socket.write(
    `GET ${path} HTTP/1.1\r\nHost: ${new URL(server.url).host}\r\nConnection: close\r\n\r\n`,
  );
  await until(() => client.received.includes('\r\n\r\n'));
  expect(client.received).toMatch(/^HTTP\/1\.1 404 /);
});

test('a page that is not built is an error that says so', async () => {
  const page = new Page(async () => await Promise.reject(new SystemError('the page is missing')));
  await expect(page.find('index.html')).rejects.toThrow('the page is missing');
  await expect(page.find('index.html')).rejects.toThrow('the page is missing');
});

test('a session is needed, in the header', async () => {
  const {send, key, bearer} = await started([answering(1)]);
  const withKey = async (headers: Record<string, string>) => (await send('/api/x', {headers})).status;
  expect(await withKey(bearer)).toBe(200);
  expect(await withKey({authorization: `bearer ${key}x`})).toBe(401);
  expect(await withKey({authorization: `Basic ${key}`})).toBe(401);
  expect(await withKey({cookie: `key=${key}`})).toBe(401);
  expect((await send(`/api/x?key=${key}`)).status).toBe(401);
});

test('methods and paths that there are not', async () => {
  const {send, bearer, origin} = await started([answering(1)]);
  const status = async (path: string, method: string) =>
    (await send(path, {method, headers: {...bearer, origin}})).status;
  expect(await status('/api/x', 'POST')).toBe(405);
  expect(await status('/api/x', 'DELETE')).toBe(405);
  expect(await status('/', 'POST')).toBe(405);
  expect(await status('/api/y', 'GET')).toBe(404);
  expect(await status('/api/x/', 'GET')).toBe(404);
  expect(await status('/api/session', 'OPTIONS')).toBe(405);
});

test('errors of requests and nodes are told, others are not', async () => {
  const failing = (path: string, error: Error): UiRoute => ({
    method: 'GET',
    path: `/api/${path}`,
    handle: async () => await Promise.reject(error),
  });
  const {send, bearer, bugs} = await started([
    failing('request', new RequestError(409, 'busy', 'wait')),
    failing('node', new SystemError('the node failed', {hint: 'look'})),
    failing('bug', new TypeError('secret')),
  ]);
  const get = async (path: string) => {
    const {status, body} = await send(path, {headers: bearer});
    return [status, JSON.parse(body) as unknown];
  };
  expect(await get('/api/request')).toEqual([409, {error: 'busy', hint: 'wait'}]);
  expect(await get('/api/node')).toEqual([502, {error: 'safe the node failed', hint: 'safe look'}]);
  expect(await get('/api/bug')).toEqual([500, {error: expect.not.stringContaining('secret') as string}]);
  expect(bugs).toEqual([expect.any(TypeError)]);
});

const JSON_TYPE = {'content-type': 'application/json'};

test('the exchange of a token needs the page and JSON of a small size', async () => {
  const {send, sessions, origin, server} = await started();
  const body = JSON.stringify({token: sessions.createToken()});
  const exchange = async (headers: Record<string, string>, content = body) =>
    (await send('/api/session', {method: 'POST', headers, body: content})).status;
  expect(await exchange(JSON_TYPE)).toBe(403);
  expect(await exchange({...JSON_TYPE, origin: 'http://evil.example'})).toBe(403);
  expect(await exchange({'content-type': 'text/plain', origin})).toBe(415);
  expect(await exchange({...JSON_TYPE, origin}, 'x'.repeat(5000))).toBe(413);
  expect(await exchange({...JSON_TYPE, origin, 'transfer-encoding': 'chunked'}, 'x'.repeat(5000))).toBe(413);
  expect(await exchange({...JSON_TYPE, origin}, '{"token":["x"]}')).toBe(401);
  expect(await exchange({...JSON_TYPE, origin}, 'null')).toBe(401);
  expect(await exchange({...JSON_TYPE, origin})).toBe(200);
  expect(await exchange({...JSON_TYPE, origin})).toBe(401);
  expect(server.url).not.toContain('token');
});

test('bodies that do not arrive end, and do not keep others out', async () => {
  const {server, host, origin, clock, send, sessions} = await started();
  const head = `POST /api/session HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${origin}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`;
  const slow = await Promise.all(Array.from({length: 17}, async () => await connectClient(server.url)));
  for (const {socket} of slow) socket.write(head);
  await until(() => slow.some(({received}) => received.startsWith('HTTP/1.1 503 ')));
  // The page still loads.
  expect((await send('/')).status).toBe(200);
  clock.elapse(BODY_DEADLINE_MS);
  await until(() => slow.filter(({received}) => received.startsWith('HTTP/1.1 408 ')).length === 16);
  const body = JSON.stringify({token: sessions.createToken()});
  expect((await send('/api/session', {method: 'POST', headers: {...JSON_TYPE, origin}, body})).status).toBe(
    200,
  );
});

test('many idle connections do not keep others out', async () => {
  const {server, send} = await started();
  await Promise.all(Array.from({length: 200}, async () => await connectClient(server.url)));
  expect((await send('/')).status).toBe(200);
});

const stream = (
  write: Extract<Awaited<ReturnType<UiRoute['handle']>>, {kind: 'stream'}>['write'],
): UiRoute => ({
  method: 'GET',
  path: '/api/stream',
  handle: async () => await Promise.resolve({kind: 'stream', type: 'text/plain', write}),
});

test('a client that does not read holds up its stream, which ends after a time', async () => {
  let written = 0;
  let error: unknown;
  const {server, host, key, clock, bugs} = await started([
    stream(async (sink) => {
      try {
        for (;;) {
          await sink.ready();
          sink.write('x'.repeat(100_000));
          written += 100_000;
        }
      } catch (caught) {
        error = caught;
        throw caught;
      }
    }),
  ]);
  const client = await connectClient(server.url);
  client.socket.pause();
  client.socket.write(`GET /api/stream HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  await until(() => {
    if (clock.sleeps.includes(STALL_LIMIT_MS)) clock.elapse(STALL_LIMIT_MS);
    return error !== undefined;
  });
  // What the sockets of the kernel hold; the server holds no more than one text.
  expect(written).toBeLessThan(50_000_000);
  expect(error).toMatchObject({message: 'the client does not read'});
  client.socket.resume();
  await until(() => client.socket.readableEnded || client.isClosed);
  expect(bugs).toEqual([]);
});

test('streams end when the client disconnects, and their number is limited', async () => {
  const open = new Set<AbortSignal>();
  const {server, host, key, send, bearer} = await started([
    answering(1),
    stream(async (sink) => {
      open.add(sink.signal);
      sink.write('x');
      await new Promise<void>((resolve) => {
        sink.signal.addEventListener('abort', () => {
          open.delete(sink.signal);
          resolve();
        });
      });
    }),
  ]);
  const clients = await Promise.all(Array.from({length: 64}, async () => await connectClient(server.url)));
  for (const {socket} of clients)
    socket.write(`GET /api/stream HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  await until(() => open.size === 64);
  expect((await send('/api/x', {headers: bearer})).status).toBe(503);
  for (const {socket} of clients) socket.destroy();
  await until(() => open.size === 0);
  await until(async () => (await send('/api/x', {headers: bearer})).status === 200);
});

test('the number of requests that wait for a node is limited', async () => {
  let waiting = 0;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const {send, bearer} = await started([
    {
      method: 'GET',
      path: '/api/node',
      handle: async () => {
        waiting += 1;
        await released;
        return {kind: 'json', value: waiting};
      },
    },
  ]);
  const answers = Array.from({length: 64}, async () => await send('/api/node', {headers: bearer}));
  await until(() => waiting === 64);
  expect((await send('/api/node', {headers: bearer})).status).toBe(503);
  release();
  expect((await Promise.all(answers)).every(({status}) => status === 200)).toBe(true);
  expect((await send('/api/node', {headers: bearer})).status).toBe(200);
});

test('the stream of a session ends when another session replaces it', async () => {
  let isOpen = false;
  const {server, host, key, sessions, bugs} = await started([
    stream(async (sink) => {
      isOpen = true;
      await aborted(sink.signal);
      isOpen = false;
      sink.signal.throwIfAborted();
    }),
  ]);
  const client = await connectClient(server.url);
  client.socket.write(`GET /api/stream HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  await until(() => isOpen);
  for (let count = 0; count < MAX_SESSIONS; count += 1)
    sessions.use(sessions.redeem(sessions.createToken()) ?? '');
  await until(() => !isOpen && (client.socket.readableEnded || client.isClosed));
  expect(bugs).toEqual([]);
});

test('a WebSocket needs the session and the origin, and its path takes nothing else', async () => {
  const {send, bearer, origin, key} = await started([
    {
      method: 'GET',
      path: '/api/socket',
      isUpgrade: true,
      handle: async () => await Promise.reject(new RequestError(418, 'reached')),
    },
    answering(1),
  ]);
  const upgrade = {connection: 'upgrade', upgrade: 'websocket'};
  const session = {'sec-websocket-protocol': `kcri.terminal, kcri.session.${key}`};
  const status = async (path: string, headers: Record<string, string>) =>
    (await send(path, {headers})).status;
  expect(await status('/api/socket', {...upgrade, ...session, origin})).toBe(418);
  expect(await status('/api/socket', {...upgrade, ...session})).toBe(403);
  expect(await status('/api/socket', {...upgrade, ...session, origin: 'http://evil.example'})).toBe(403);
  expect(await status('/api/socket', {...upgrade, origin})).toBe(401);
  expect(await status('/api/socket', {...bearer, origin})).toBe(426);
  expect(await status('/api/x', {...upgrade, ...bearer, origin})).toBe(426);
});
