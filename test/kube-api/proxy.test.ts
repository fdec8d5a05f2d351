import {writeFile} from 'node:fs/promises';
import {createServer} from 'node:net';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {SystemError} from '../../src/base/errors.js';
import {ApiClient} from '../../src/kube-api/api-client.js';
import {connectApiServer, type ApiServer} from '../../src/kube-api/connect-api-server.js';
import {HttpConnection} from '../../src/kube-api/http-connection.js';
import {createSelfSignedPair} from '../../src/format/x509/self-signed-certificate.js';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {listenOnLoopback} from '../base/listen-on-loopback.js';
import {FakeApiServer} from '../fakes/api-server/fake-api-server.js';
import {FakeClock} from '../fakes/fake-clock.js';
import {FakeProxy, type FakeProxyOptions} from '../fakes/fake-proxy.js';

const NEVER = new AbortController().signal;
const {certificate: cert, key} = createSelfSignedPair({
  commonName: 'api',
  names: ['localhost', '127.0.0.1'],
  notBeforeMs: 0,
  notAfterMs: 4e12,
});

async function getNode(server: URL, proxy: URL): Promise<unknown> {
  const credentials = {tls: {ca: cert, rejectUnauthorized: true}, token: undefined};
  const connection = new HttpConnection(server, {current: async () => credentials}, {proxy});
  try {
    const client = new ApiClient({connection, userAgent: 'kcri', clock: new FakeClock()});
    return await client.request({method: 'GET', path: '/api/v1/nodes/a'}, NEVER);
  } finally {
    connection.close();
  }
}

async function startApi(options: {tls?: {cert: string; key: string}; http2?: {maxStreams: number}} = {}) {
  const api = await FakeApiServer.start(options);
  api.create('/api/v1/nodes/a', {kind: 'Node'});
  return api;
}

describe.each<FakeProxyOptions>([
  {protocol: 'http'},
  {protocol: 'http', user: 'me:secret'},
  {protocol: 'https', tls: {cert, key}},
  {protocol: 'socks5'},
  {protocol: 'socks5', user: 'me:secret'},
])('through a proxy with $protocol $user', (options) => {
  test.each([
    ['HTTP/2', {tls: {cert, key}, http2: {maxStreams: 100}}],
    ['HTTP/1.1 over TLS', {tls: {cert, key}}],
    ['plain HTTP', {}],
  ])('an API server with %s is reached by the name in its URL', async (_title, server) => {
    await using api = await startApi(server);
    await using proxy = await FakeProxy.start(options);
    const url = new URL(api.url);
    url.hostname = 'localhost';
    expect(await getNode(url, proxy.url())).toMatchObject({kind: 'Node'});
    expect(proxy.targets).toEqual([`localhost:${url.port}`]);
  });
});

test.each(['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]'])(
  'SOCKS5 gets the address %s as such',
  async (host) => {
    await using api = await startApi();
    await using proxy = await FakeProxy.start({protocol: 'socks5'});
    await getNode(new URL(`http://${host}:${new URL(api.url).port}`), proxy.url());
    const address = host === '127.0.0.1' ? host : host === '[::1]' ? `${'0 '.repeat(15)}1` : V4_MAPPED;
    expect(proxy.targets[0]?.replace(/:\d+$/, '')).toBe(address);
  },
);

const V4_MAPPED = '0 0 0 0 0 0 0 0 0 0 255 255 127 0 0 1';

test.each<[FakeProxyOptions, string | undefined, RegExp]>([
  [{protocol: 'http', user: 'me:secret'}, 'me:wrong', /^proxy 127\.0\.0\.1:\d+: answered CONNECT with 407/],
  [{protocol: 'socks5', user: 'me:secret'}, 'me:wrong', /rejected the user name or password$/],
])('a password that %o rejects is an error without it', async (options, user, message) => {
  await using api = await startApi();
  await using proxy = await FakeProxy.start(options);
  const failure = await getNode(new URL(api.url), proxy.url(user)).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(SystemError);
  expect((failure as Error).message).toMatch(message);
  expect(String(failure)).not.toContain('wrong');
});

test('a proxy that needs a user is reported', async () => {
  await using api = await startApi();
  await using proxy = await FakeProxy.start({protocol: 'socks5', user: 'me:secret'});
  const url = proxy.url();
  url.username = '';
  url.password = '';
  await expect(getNode(new URL(api.url), url)).rejects.toThrow('accepts no authentication method');
});

test.each(['http', 'socks5'])(
  'a server that is no %s proxy, or closes the connection, is reported',
  async (protocol) => {
    for (const answer of ['SSH-2.0-x\r\n', '']) {
      const server = createServer((socket) => socket.end(answer));
      const proxy = new URL(`${protocol}://127.0.0.1:${await listenOnLoopback(server)}`);
      await expect(getNode(new URL('https://10.0.0.1'), proxy)).rejects.toThrow(/^proxy 127\.0\.0\.1:\d+: /);
      server.close();
    }
  },
);

describe('variables of the environment', () => {
  /** Connects to the server by a name that only proxies know. */
  async function connectByName(
    api: FakeApiServer,
    env: Readonly<Record<string, string>>,
    cluster: object = {},
  ): Promise<ApiServer> {
    const kubeconfig = join(await temporaryDirectory(), 'kubeconfig');
    const server = `http://api.example:${new URL(api.url).port}`;
    const config = {
      'current-context': 'x',
      clusters: [{name: 'c', cluster: {server, ...cluster}}],
      contexts: [{name: 'x', context: {cluster: 'c', user: 'u'}}],
      users: [{name: 'u', user: {token: 'token'}}],
    };
    await writeFile(kubeconfig, JSON.stringify(config));
    const limits = {qps: 0, burst: 0, eventQps: 0, eventBurst: 0};
    return await connectApiServer({
      ...{kubeconfig, env, userAgent: 'kcri', clock: new FakeClock(), signal: NEVER},
      ...limits,
    });
  }
  const nodeOf = async ({client}: ApiServer): Promise<unknown> =>
    await client.request({method: 'GET', path: '/api/v1/nodes/a'}, NEVER);

  test('name the proxy of a kubeconfig without one', async () => {
    await using api = await startApi();
    await using proxy = await FakeProxy.start({protocol: 'socks5', user: 'me:secret'});
    using server = await connectByName(api, {HTTP_PROXY: proxy.url().href});
    expect(await nodeOf(server)).toMatchObject({kind: 'Node'});
    expect(proxy.targets).toEqual([`api.example:${new URL(api.url).port}`]);
  });

  test('do not replace the proxy of the kubeconfig', async () => {
    await using api = await startApi();
    await using proxy = await FakeProxy.start({protocol: 'http'});
    const env = {HTTP_PROXY: 'http://127.0.0.1:1'};
    using server = await connectByName(api, env, {'proxy-url': proxy.url().href});
    expect(await nodeOf(server)).toMatchObject({kind: 'Node'});
  });

  test('exempt the server with NO_PROXY', async () => {
    await using api = await startApi();
    await using proxy = await FakeProxy.start({protocol: 'http'});
    using server = await connectByName(api, {HTTP_PROXY: proxy.url().href, NO_PROXY: '.example'});
    await expect(nodeOf(server)).rejects.toThrow('api.example');
    expect(proxy.targets).toEqual([]);
  });

  test('reject other proxies without the password', async () => {
    await using api = await startApi();
    const failure = connectByName(api, {HTTP_PROXY: 'ftp://me:secret@proxy'});
    await expect(failure).rejects.toMatchObject({
      message: 'HTTP_PROXY must be a URL with the scheme http, https or socks5',
      hint: 'set it to a URL such as http://10.0.0.1:3128, or add api.example to NO_PROXY',
    });
  });
});

test('a proxy URL with an invalid escape is an error of the configuration, not of the program', async () => {
  await using proxy = await FakeProxy.start({protocol: 'http'});
  const failure = await getNode(new URL('https://10.0.0.1'), proxy.url('me:%zz')).catch(
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(SystemError);
  expect(String(failure)).toContain('invalid escape');
  expect(String(failure)).not.toContain('%zz');
});
