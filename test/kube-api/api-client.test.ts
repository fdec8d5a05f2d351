import {describe, expect, test} from 'vitest';
import {TokenBucket} from '../../src/base/async/token-bucket.js';
import {SystemError} from '../../src/base/errors.js';
import {ApiClient, type RawWatchEvent} from '../../src/kube-api/api-client.js';
import {ApiError, isAlreadyExists, isNotFound} from '../../src/kube-api/api-error.js';
import {HttpConnection} from '../../src/kube-api/http-connection.js';
import {until} from '../base/until.js';
import {FakeApiServer} from '../fakes/api-server/fake-api-server.js';
import {AutoAdvance, FakeClock} from '../fakes/fake-clock.js';

const NEVER = new AbortController().signal;
const GET = {method: 'GET', path: '/api/v1/nodes/a'} as const;

function clientOf(
  api: FakeApiServer,
  {
    clock = new FakeClock({sleep: 'instant'}),
    token,
    qps,
  }: {clock?: FakeClock; token?: string; qps?: number} = {},
): ApiClient {
  const credentials = {tls: {rejectUnauthorized: true}, token};
  const connection = new HttpConnection(new URL(api.url), {current: async () => credentials});
  const limiter = qps === undefined ? undefined : new TokenBucket({perSecond: qps, burst: 1}, clock);
  return new ApiClient({connection, userAgent: 'kcri/1', clock, ...(limiter && {limiter})});
}

async function failureOf(work: Promise<unknown>): Promise<ApiError> {
  const error: unknown = await work.catch((reason: unknown) => reason);
  if (!(error instanceof ApiError)) throw new Error(`not an ApiError: ${String(error)}`);
  return error;
}

test('a watch over HTTP/1.1 whose server shuts down says so', async () => {
  await using api = await FakeApiServer.start();
  const client = clientOf(api, {clock: new FakeClock()});
  const events = client.watch({path: '/api/v1/nodes', query: {}, maxMs: 60_000}, NEVER);
  const next = events.next().catch((error: unknown) => error);
  await until(() => api.watches.count === 1);
  await api.refuse();
  expect(String(await next)).toBe('Error: the API server closed the connection');
});

describe('a request', () => {
  test('sends JSON with the token and returns the object', async () => {
    await using api = await FakeApiServer.start({token: 'secret'});
    const client = clientOf(api, {token: 'secret'});
    const body = {apiVersion: 'v1', kind: 'Node', metadata: {name: 'a'}};
    const created = await client.request({method: 'POST', path: '/api/v1/nodes', body}, NEVER);
    expect(created).toMatchObject(body);
    expect(api.requests[0]?.headers).toMatchObject({
      authorization: 'Bearer secret',
      'content-type': 'application/json',
      'user-agent': 'kcri/1',
    });
  });

  test('a PATCH is a strategic merge patch, and a timeout is in the query', async () => {
    await using api = await FakeApiServer.start();
    api.create('/api/v1/nodes/a', {kind: 'Node'});
    const patch = {
      method: 'PATCH',
      path: '/api/v1/nodes/a/status',
      body: {status: {}},
      timeoutMs: 10_000,
    } as const;
    await clientOf(api).request(patch, NEVER);
    expect(api.requests[0]).toMatchObject({
      query: {timeout: '10s'},
      headers: {'content-type': 'application/strategic-merge-patch+json'},
    });
  });

  test('rejects with code, reason and message of the Status', async () => {
    await using api = await FakeApiServer.start();
    const missing = await failureOf(clientOf(api).request(GET, NEVER));
    expect([isNotFound(missing), missing.reason, missing.message]).toEqual([
      true,
      'NotFound',
      'nodes "a" not found',
    ]);
    api.create('/api/v1/nodes/a', {kind: 'Node'});
    const body = {metadata: {name: 'a'}};
    const post = clientOf(api).request({method: 'POST', path: '/api/v1/nodes', body}, NEVER);
    expect(isAlreadyExists(await failureOf(post))).toBe(true);
  });

  test('waits as long as Retry-After says and is repeated', async () => {
    await using api = await FakeApiServer.start();
    api.create('/api/v1/nodes/a', {kind: 'Node'});
    api.inject(() => true, {code: 429, retryAfter: 3}, 2);
    const clock = new FakeClock({sleep: 'instant'});
    await clientOf(api, {clock}).request(GET, NEVER);
    expect(clock.sleeps).toEqual([3000, 3000]);
  });

  test('its time limit includes the waits, and the last one ends with the error of the server', async () => {
    await using api = await FakeApiServer.start();
    api.inject(() => true, {code: 429, retryAfter: 4, message: 'too many requests'}, 10);
    const clock = new FakeClock();
    using _time = new AutoAdvance(clock);
    const request = clientOf(api, {clock}).request({...GET, timeoutMs: 10_000}, NEVER);
    expect(await failureOf(request)).toMatchObject({code: 429, message: 'too many requests'});
    expect(api.requests.length).toBeLessThanOrEqual(3);
    // A slow attempt takes some of the time too.
    expect(clock.now()).toBeGreaterThanOrEqual(10_000);
    expect(clock.now()).toBeLessThan(12_000);
  });

  test('does not wait for a Retry-After beyond its time limit', async () => {
    await using api = await FakeApiServer.start();
    api.inject(() => true, {code: 429, retryAfter: 300}, 10);
    const clock = new FakeClock();
    using _time = new AutoAdvance(clock);
    await failureOf(clientOf(api, {clock}).request({...GET, timeoutMs: 10_000}, NEVER));
    expect(api.requests).toHaveLength(1);
    expect(clock.now()).toBeLessThan(11_000);
  });

  test('a server error without Retry-After is not repeated', async () => {
    await using api = await FakeApiServer.start();
    api.inject(() => true, {code: 503, message: 'down'});
    expect(await failureOf(clientOf(api).request(GET, NEVER))).toMatchObject({code: 503, message: 'down'});
    expect(api.requests).toHaveLength(1);
  });

  test('ends when its time is over', async () => {
    await using api = await FakeApiServer.start();
    api.inject(() => true, 'hang');
    const failed = await clientOf(api)
      .request({...GET, timeoutMs: 50}, NEVER)
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(SystemError);
    expect(String(failed)).toContain('no response within');
  });

  test('ends when its signal aborts', async () => {
    await using api = await FakeApiServer.start();
    api.inject(() => true, 'hang');
    const controller = new AbortController();
    const sent = clientOf(api).request(GET, controller.signal);
    await until(() => api.requests.length === 1);
    controller.abort(new Error('stopped'));
    await expect(sent).rejects.toThrow('stopped');
  });

  test('waits for the rate limit, in order', async () => {
    await using api = await FakeApiServer.start();
    api.create('/api/v1/nodes/a', {kind: 'Node'});
    const clock = new FakeClock({sleep: 'instant'});
    const client = clientOf(api, {clock, qps: 2});
    await Promise.all([1, 2, 3].map(async () => client.request(GET, NEVER)));
    expect(clock.sleeps).toEqual([500, 1000]);
  });
});

function watchNodes(api: FakeApiServer, clock?: FakeClock, maxMs = 1000): AsyncGenerator<RawWatchEvent> {
  const client = clientOf(api, clock === undefined ? {clock: new FakeClock()} : {clock});
  const query = {resourceVersion: String(api.storage.version)};
  return client.watch({path: '/api/v1/nodes', query, maxMs}, NEVER);
}

describe('a watch', () => {
  test('delivers events, and an ERROR event rejects', async () => {
    await using api = await FakeApiServer.start();
    const events: string[] = [];
    const watched = (async () => {
      for await (const {type} of watchNodes(api)) events.push(type);
    })();
    const outcome = failureOf(watched);
    await until(() => api.watches.count === 1);
    api.create('/api/v1/nodes/a', {kind: 'Node'});
    await until(() => events.length === 1);
    api.watches.sendBookmarks();
    await until(() => events.length === 2);
    api.watches.end(410);
    expect((await outcome).code).toBe(410);
    expect(events).toEqual(['ADDED', 'BOOKMARK']);
  });

  test.each([
    [
      'that is not JSON',
      '{"data":{"password":"hidden"}\n',
      'the server sent 29 characters that are not JSON',
    ],
    ['without an object', '{"type":"ADDED","object":7}\n', 'the server sent a malformed watch event'],
    ['without metadata', '{"type":"ADDED","object":{}}\n', 'the server sent a malformed watch event'],
  ])('ends with an error that quotes nothing, at an event %s', async (_title, text, message) => {
    await using api = await FakeApiServer.start();
    const next = watchNodes(api).next();
    const failed = next.catch((error: unknown) => error);
    await until(() => api.watches.count === 1);
    api.watches.sendText(text);
    expect(await failed).toEqual(new SystemError(message));
  });

  test('that the server does not end is ended', async () => {
    await using api = await FakeApiServer.start();
    const clock = new FakeClock();
    const next = watchNodes(api, clock, 330_000).next();
    const failed = next.catch((error: unknown) => error);
    await until(() => api.watches.count === 1);
    await clock.advance(330_000);
    expect(await failed).toEqual(new SystemError('the watch did not end within 330 s'));
    await until(() => api.watches.count === 0);
  });
});
