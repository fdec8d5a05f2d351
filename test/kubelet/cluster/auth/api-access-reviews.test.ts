import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import {ApiClient} from '../../../../src/kube-api/api-client.js';
import {HttpConnection} from '../../../../src/kube-api/http-connection.js';
import {ApiAccessReviews} from '../../../../src/kubelet/cluster/auth/api-access-reviews.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {FakeApiServer} from '../../../fakes/api-server/fake-api-server.js';
import {reviewHandlers, type ReviewRules} from '../../../fakes/api-server/review-handlers.js';
import {FakeClock} from '../../../fakes/fake-clock.js';
import type {ServerAccess} from '../../../../src/kubelet/server/http-server-options.js';
import {createCertificate} from '../../server/auth/client-certificate.js';
import {startServerTestbed, type ServerTestbed} from '../../server/server-testbed.js';

const PROMETHEUS = {username: 'system:serviceaccount:monitoring:prometheus', uid: 'u1', groups: ['scrapers']};

interface Reviewed {
  readonly api: FakeApiServer;
  readonly clock: FakeClock;
  readonly reviews: ApiAccessReviews;
}

async function start(rules: ReviewRules): Promise<Reviewed> {
  const api = await FakeApiServer.start({handlers: reviewHandlers(rules)});
  onTestFinished(async () => {
    await api[Symbol.asyncDispose]();
  });
  const clock = new FakeClock();
  const credentials = {tls: {rejectUnauthorized: true}, token: undefined};
  const connection = new HttpConnection(new URL(api.url), {current: async () => credentials});
  const end = new AbortController();
  onTestFinished(() => {
    end.abort();
    connection.close();
  });
  const reviews = new ApiAccessReviews({
    client: new ApiClient({connection, userAgent: 'kcri', clock}),
    tokenTtlMs: 120_000,
    authorizedTtlMs: 300_000,
    unauthorizedTtlMs: 30_000,
    clock,
    signal: end.signal,
  });
  return {api, clock, reviews};
}

async function serve({reviews}: Reviewed, access: Partial<ServerAccess>): Promise<ServerTestbed> {
  return await startServerTestbed({
    access: {anonymous: false, tokenReviews: reviews, accessReviews: reviews, ...access},
  });
}

const bearer = (token: string) => ({headers: {authorization: `Bearer ${token}`}});

describe('requests to the HTTPS server', () => {
  test('a valid token is authenticated, and authorized for a subresource', async () => {
    const reviewed = await start({users: {good: PROMETHEUS}, allowed: ['metrics']});
    const {request} = await serve(reviewed, {});
    expect(await request('/metrics', bearer('good'))).toMatchObject({status: 200});
    expect(reviewed.api.requests.map(({body}) => body)).toEqual([
      {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        metadata: {},
        spec: {token: 'good'},
      },
      {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        metadata: {},
        spec: {
          user: PROMETHEUS.username,
          uid: 'u1',
          groups: ['scrapers', 'system:authenticated'],
          resourceAttributes: {
            verb: 'get',
            version: 'v1',
            resource: 'nodes',
            subresource: 'metrics',
            name: 'node-1',
          },
        },
      },
    ]);
  });

  test('a request is allowed if one of its subresources is, as with fine-grained authorization', async () => {
    const reviewed = await start({users: {good: PROMETHEUS}, allowed: ['proxy']});
    const {request} = await serve(reviewed, {});
    expect(await request('/pods', bearer('good'))).toMatchObject({status: 200});
    expect(await request('/stats/summary', bearer('good'))).toMatchObject({
      status: 403,
      body: `Forbidden (user=${PROMETHEUS.username}, verb=get, resource=nodes, subresource(s)=[stats])\n`,
    });
  });

  test('a client certificate precedes a token, and its fingerprint is the credential ID', async () => {
    const reviewed = await start({allowed: ['proxy']});
    const client = createCertificate([
      ['O', 'system:masters'],
      ['UID', 'u7'],
      ['CN', 'apiserver'],
    ]);
    const clientCaFile = join(await temporaryDirectory(), 'ca.crt');
    await writeFile(clientCaFile, client.certificate);
    const {request} = await serve(reviewed, {clientCaFile});
    expect(await request('/configz', {client, ...bearer('bad')})).toMatchObject({status: 200});
    expect(reviewed.api.requests.map(({path}) => path.split('/').at(-1))).toEqual([
      'subjectaccessreviews',
      'subjectaccessreviews',
    ]);
    expect(reviewed.api.requests[0]?.body?.['spec']).toMatchObject({
      user: 'apiserver',
      uid: 'u7',
      groups: ['system:masters', 'system:authenticated'],
      extra: {
        'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^X509SHA256=[0-9a-f]{64}$/)],
      },
    });
  });

  test.each([
    [{name: 'x', groups: []}, ['system:authenticated']],
    [{name: 'x', groups: ['system:authenticated', 'g']}, ['system:authenticated', 'g']],
    [{name: 'x', groups: ['system:unauthenticated']}, ['system:unauthenticated']],
    [{name: 'system:anonymous', groups: []}, []],
  ])('the user of a token is in system:authenticated once: %j', async (user, groups) => {
    const reviewed = await start({allowed: ['metrics']});
    const {request} = await serve(reviewed, {tokenReviews: {reviewToken: async () => Promise.resolve(user)}});
    expect(await request('/metrics', bearer('good'))).toMatchObject({status: 200});
    expect(reviewed.api.requests[0]?.body?.['spec']).toMatchObject({groups});
  });

  test('a request without credentials is 401 without a review, also with an unusable Authorization', async () => {
    const reviewed = await start({allowed: ['proxy']});
    const {request} = await serve(reviewed, {});
    for (const authorization of ['', 'Basic x', 'Bearer', 'Bearer   '])
      expect(await request('/pods', {headers: {authorization}})).toMatchObject({status: 401});
    expect(reviewed.api.requests).toEqual([]);
  });

  test('an invalid token is 401 even if anonymous requests are allowed', async () => {
    const reviewed = await start({allowed: ['proxy']});
    const {request} = await serve(reviewed, {anonymous: true});
    expect(await request('/pods', bearer('bad'))).toMatchObject({status: 401});
    expect(await request('/pods')).toMatchObject({status: 200});
  });

  test('a token in a WebSocket subprotocol is used', async () => {
    const reviewed = await start({users: {good: PROMETHEUS}, allowed: ['proxy']});
    const {request} = await serve(reviewed, {});
    const token = Buffer.from('good').toString('base64url');
    const headers = {
      'sec-websocket-protocol': `v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.${token}`,
    };
    expect(await request('/pods', {headers})).toMatchObject({status: 200});
  });

  test('a review that fails is 401 for a token and 500 for the authorization', async () => {
    const reviewed = await start({users: {good: PROMETHEUS}, allowed: []});
    const {request} = await serve(reviewed, {});
    reviewed.api.inject(({path}) => path.endsWith('subjectaccessreviews'), {code: 503});
    expect(await request('/pods', bearer('good'))).toMatchObject({
      status: 500,
      body: `Authorization error (user=${PROMETHEUS.username}, verb=get, resource=nodes, subresource=pods)`,
    });
    reviewed.api.inject(({path}) => path.endsWith('tokenreviews'), {code: 403});
    expect(await request('/pods', bearer('other'))).toMatchObject({status: 401});
  });

  test('too many reviews at once are 429, and a valid token is still served', async () => {
    const reviewed = await start({users: {good: PROMETHEUS}, allowed: ['metrics']});
    const {request} = await serve(reviewed, {});
    await request('/metrics', bearer('good'));
    reviewed.api.inject(({path}) => path.endsWith('tokenreviews'), 'hang');
    const before = reviewed.api.requests.length;
    const attacks = Array.from({length: 40}, async (_, index) => await request('/pods', bearer(`t${index}`)));
    const refused = await Promise.any(attacks);
    expect(refused).toMatchObject({status: 429, headers: {'retry-after': '1'}});
    expect(await request('/metrics', bearer('good'))).toMatchObject({status: 200});
    expect(reviewed.api.requests.length - before).toBeLessThanOrEqual(32);
    await reviewed.clock.advance(30_000);
    const statuses = (await Promise.all(attacks)).map(({status}) => status);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
  });
});

describe('results', () => {
  test('of a token are used until they expire, and invalid ones too', async () => {
    const {api, clock, reviews} = await start({users: {good: PROMETHEUS}});
    for (const token of ['good', 'bad', 'good', 'bad']) await reviews.reviewToken(token);
    expect(api.requests).toHaveLength(2);
    await clock.advance(120_000);
    await reviews.reviewToken('good');
    expect(api.requests).toHaveLength(3);
  });

  test('of an access are used for 5 minutes if it is allowed, and 30 seconds if not', async () => {
    const {api, clock, reviews} = await start({allowed: ['stats']});
    const ask = async (subresource: string): Promise<boolean> =>
      await reviews.reviewAccess({user: {name: 'a', groups: []}, verb: 'get', nodeName: 'n', subresource});
    const asked = async (): Promise<number> => {
      await ask('stats');
      await ask('log');
      return api.requests.length;
    };
    expect(await asked()).toBe(2);
    expect(await asked()).toBe(2);
    await clock.advance(30_000);
    expect(await asked()).toBe(3);
    await clock.advance(270_000);
    expect(await asked()).toBe(5);
  });

  test('errors are not stored, and an overloaded server is asked again', async () => {
    const {api, clock, reviews} = await start({users: {good: PROMETHEUS}});
    api.inject(() => true, {code: 500}, 2);
    const review = reviews.reviewToken('good');
    for (const [requests, delayMs] of [
      [1, 500],
      [2, 750],
    ] as const) {
      await vi.waitFor(() => {
        expect([api.requests.length, clock.sleeping]).toEqual([requests, 2]);
      });
      await clock.advance(delayMs);
    }
    expect(await review).toMatchObject({name: PROMETHEUS.username});
    api.inject(() => true, {code: 403}, 1);
    await expect(reviews.reviewToken('other')).rejects.toMatchObject({code: 403});
    expect(await reviews.reviewToken('other')).toBeUndefined();
  });

  test('equal reviews at the same time are one request', async () => {
    const {api, reviews} = await start({users: {good: PROMETHEUS}});
    await Promise.all([reviews.reviewToken('good'), reviews.reviewToken('good')]);
    expect(api.requests).toHaveLength(1);
  });

  test.each([{}, {status: 'x'}, {status: {authenticated: true}}, []])(
    'an invalid answer is an error, never a user: %j',
    async (answer) => {
      const api = await FakeApiServer.start({
        handlers: {
          'POST tokenreviews': ({response}) => {
            response.writeHead(201).end(JSON.stringify(answer));
          },
        },
      });
      onTestFinished(async () => {
        await api[Symbol.asyncDispose]();
      });
      const clock = new FakeClock();
      const credentials = {tls: {rejectUnauthorized: true}, token: undefined};
      const connection = new HttpConnection(new URL(api.url), {current: async () => credentials});
      const reviews = new ApiAccessReviews({
        client: new ApiClient({connection, userAgent: 'kcri', clock}),
        ...{tokenTtlMs: 1, authorizedTtlMs: 1, unauthorizedTtlMs: 1},
        clock,
        signal: new AbortController().signal,
      });
      await expect(reviews.reviewToken('x')).rejects.toThrow('the API server sent');
      connection.close();
    },
  );
});
