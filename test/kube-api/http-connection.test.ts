import {describe, expect, test} from 'vitest';
import {ApiClient} from '../../src/kube-api/api-client.js';
import {HttpConnection} from '../../src/kube-api/http-connection.js';
import type {ListedObject} from '../../src/kube-api/list-watch.js';
import {Reflector} from '../../src/kube-api/reflector.js';
import {createCollection} from '../../src/kube-api/resource.js';
import {createSelfSignedPair} from '../../src/format/x509/self-signed-certificate.js';
import {until} from '../base/until.js';
import {FakeApiServer, type FakeApiServerOptions} from '../fakes/api-server/fake-api-server.js';
import {FakeClock} from '../fakes/fake-clock.js';
import {StallingProxy} from '../fakes/stalling-proxy.js';

const NEVER = new AbortController().signal;
const GET = {method: 'GET', path: '/api/v1/nodes/a'} as const;
/** A watch from the version of the node, so that the server has no event for it. */
const NODES = {path: '/api/v1/nodes', query: {resourceVersion: '101'}, maxMs: 600_000};
const {certificate: cert, key} = createSelfSignedPair({
  commonName: 'api',
  names: ['api', 'localhost'],
  notBeforeMs: 0,
  notAfterMs: 4e12,
});

/** A client, and the proxy between it and a fake API server. */
class Scene implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly api: FakeApiServer;
  readonly proxy: StallingProxy;
  readonly client: ApiClient;
  readonly connection: HttpConnection;
  tls = {ca: cert, servername: 'api', rejectUnauthorized: true};

  private constructor(api: FakeApiServer, proxy: StallingProxy) {
    const {clock} = this;
    const url = new URL(api.url);
    url.port = String(proxy.port);
    const current = async () => ({tls: this.tls, token: undefined});
    this.api = api;
    this.proxy = proxy;
    this.connection = new HttpConnection(url, {current}, {clock});
    this.client = new ApiClient({connection: this.connection, userAgent: 'kcri', clock});
  }

  static async start(options: FakeApiServerOptions): Promise<Scene> {
    const api = await FakeApiServer.start(options);
    api.create('/api/v1/nodes/a', {kind: 'Node'});
    return new Scene(api, await StallingProxy.start(api.url));
  }

  /** Starts a watch and resolves when it is open; `ended` resolves with its error. */
  async watch(): Promise<{readonly ended: Promise<string>}> {
    const count = this.api.watches.count;
    const next = this.client.watch(NODES, NEVER).next();
    const ended = next.then(String, String);
    await until(() => this.api.watches.count > count);
    return {ended};
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.connection.close();
    await this.proxy[Symbol.asyncDispose]();
    await this.api[Symbol.asyncDispose]();
  }
}

const HTTP2 = {tls: {cert, key}, http2: {maxStreams: 250}};

describe('with HTTP/2', () => {
  test('requests, bodies and watches share a connection', async () => {
    await using scene = await Scene.start(HTTP2);
    await scene.watch();
    const body = {kind: 'Node', metadata: {name: 'b'}, spec: {big: 'x'.repeat(300_000)}};
    const path = '/api/v1/nodes';
    const created = await scene.client.request({method: 'POST', path, body}, NEVER);
    expect(created).toMatchObject(body);
    await Promise.all(Array.from({length: 50}, async () => scene.client.request(GET, NEVER)));
    expect(scene.proxy.connections).toBe(1);
  });

  test('watches that fill a connection keep no request waiting', async () => {
    await using scene = await Scene.start({...HTTP2, http2: {maxStreams: 10}});
    await scene.client.request(GET, NEVER);
    for (let count = 0; count < 25; count += 1) await scene.watch();
    await scene.client.request(GET, NEVER);
    expect(scene.proxy.connections).toBe(3);
  });

  test('a connection that forwards nothing is found after 25 s, and replaced', async () => {
    await using scene = await Scene.start(HTTP2);
    const {ended} = await scene.watch();
    scene.proxy.stall();
    await scene.clock.advance(15_000);
    await scene.clock.advance(9_999);
    const isOpen = Symbol('open');
    expect(await Promise.race([ended, new Promise((resolve) => setImmediate(resolve, isOpen))])).toBe(isOpen);
    await scene.clock.advance(1);
    expect(await ended).toContain('the API server did not answer a ping within 10 s');
    await scene.client.request(GET, NEVER);
    expect(scene.proxy.connections).toBe(2);
  });

  test('a quiet connection stays open', async () => {
    await using scene = await Scene.start(HTTP2);
    await scene.watch();
    for (let seconds = 0; seconds < 120; seconds += 5) {
      await until(() => scene.clock.sleeping >= 2);
      await scene.clock.advance(5000);
      await scene.client.request(GET, NEVER);
    }
    expect(scene.proxy.connections).toBe(1);
  });

  test('events that a reflector missed on a dead connection arrive over the next one', async () => {
    await using scene = await Scene.start(HTTP2);
    const {client, clock, api} = scene;
    const stop = new AbortController();
    let names: readonly (string | undefined)[] = [];
    const collection = createCollection<ListedObject>({
      client,
      path: '/api/v1/nodes',
      decode: (value) => value as ListedObject,
      random: () => 0,
    });
    const onChange = (nodes: readonly ListedObject[]): void => {
      names = nodes.map(({metadata}) => metadata.name);
    };
    const reflector = new Reflector({
      collection,
      onChange,
      onFailure: () => undefined,
      clock,
      random: () => 0,
    });
    const run = reflector.run(stop.signal).catch(() => undefined);
    await until(() => names.length === 1);
    scene.proxy.stall();
    api.create('/api/v1/nodes/b', {kind: 'Node'});
    const startedAt = clock.now();
    await until(async () => {
      await clock.advance(500);
      return names.length === 2;
    });
    expect(clock.now() - startedAt).toBeLessThan(30_000);
    stop.abort();
    await run;
  });

  test('a request whose signal aborts, or that gets no response, leaves the others alone', async () => {
    await using scene = await Scene.start(HTTP2);
    const {ended} = await scene.watch();
    scene.api.inject(({method}) => method === 'PUT', 'hang');
    const put = {...GET, method: 'PUT', body: {}} as const;
    await expect(scene.client.request({...put, timeoutMs: 50}, NEVER)).rejects.toThrow('no response within');
    const controller = new AbortController();
    const sent = scene.client.request(put, controller.signal);
    await until(() => scene.api.requests.filter(({method}) => method === 'PUT').length === 2);
    controller.abort(new Error('stopped'));
    await expect(sent).rejects.toThrow('stopped');
    scene.api.watches.end();
    expect(await ended).toBe('[object Object]');
    expect(scene.proxy.connections).toBe(1);
  });

  test('a server that restarts gets requests again', async () => {
    await using scene = await Scene.start(HTTP2);
    await scene.client.request(GET, NEVER);
    await scene.api.refuse();
    await expect(scene.client.request(GET, NEVER)).rejects.toThrow();
    await scene.api.listen();
    await scene.client.request(GET, NEVER);
  });

  test('another client certificate closes the connections with the old one', async () => {
    await using scene = await Scene.start(HTTP2);
    const {ended} = await scene.watch();
    scene.tls = {...scene.tls};
    await scene.client.request(GET, NEVER);
    await ended;
    expect(scene.proxy.connections).toBe(2);
  });
});

describe('with HTTP/1.1', () => {
  test('a server without HTTP/2 is served over TLS', async () => {
    await using scene = await Scene.start({tls: {cert, key}});
    await scene.watch();
    await scene.client.request(GET, NEVER);
    await scene.client.request(GET, NEVER);
    expect(scene.proxy.connections).toBe(2);
  });

  test('a request without response in time ends the watches, whose connections may be dead too', async () => {
    await using scene = await Scene.start({});
    const {ended} = await scene.watch();
    scene.proxy.stall();
    await scene.client.request(GET, NEVER);
    scene.proxy.stall();
    await expect(scene.client.request({...GET, timeoutMs: 50}, NEVER)).rejects.toThrow('no response within');
    expect(await ended).toContain('Error');
    await scene.client.request(GET, NEVER);
  });
});

test.each([
  [
    'a server whose certificate has another name',
    {servername: 'other'},
    /^failed to verify the certificate of "[^"]+": .*altnames/,
  ],
  [
    'a server with a certificate of another authority',
    {ca: ''},
    /^failed to verify the certificate of "[^"]+": .*self-signed/,
  ],
])('%s gets no request', async (_title, tls, message) => {
  await using scene = await Scene.start(HTTP2);
  scene.tls = {...scene.tls, ...tls};
  await expect(scene.client.request(GET, NEVER)).rejects.toThrow(message);
  expect(scene.api.requests).toEqual([]);
});
