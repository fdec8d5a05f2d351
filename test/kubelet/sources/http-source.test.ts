import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import {createServer as createTlsServer} from 'node:https';
import {createServer as createSocketServer, type AddressInfo, type Server} from 'node:net';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import {HttpSource} from '../../../src/kubelet/sources/http-source.js';
import {CERTIFICATE, KEY} from '../../fakes/streaming/test-certificate.js';
import {until} from '../../base/until.js';
import {aRawPod} from '../../fakes/a-pod.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import {configMapManifest, runSource, podManifest, prepareOnNode, type RunningSource} from './run-source.js';

const PERIOD_MS = 20_000;
/** The first byte that a TLS client sends. */
const TLS_HANDSHAKE = 0x16;

/** Returns how often the source has started to wait for the next poll. */
const countPauses = (clock: FakeClock): number => clock.sleeps.filter((ms) => ms === PERIOD_MS).length;

type Responder = (request: IncomingMessage, response: ServerResponse) => void;

interface HttpSourceScene {
  readonly url: string;
  readonly requests: readonly IncomingMessage[];
  readonly followed: RunningSource;
  /** Sets the response and waits for the next poll. */
  readonly next: (response: string | Responder) => Promise<void>;
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

function serve(text: string): Responder {
  return (_, response) => response.end(text);
}

async function startScene(first: string | Responder, headers = {}): Promise<HttpSourceScene> {
  const requests: IncomingMessage[] = [];
  let responder = first;
  const server = createServer((request, response) => {
    requests.push(request);
    (typeof responder === 'string' ? serve(responder) : responder)(request, response);
  });
  const url = `http://user:secret@127.0.0.1:${await listen(server)}/pods?token=secret`;
  const clock = new FakeClock();
  const prepare: typeof prepareOnNode = (document, objects) => prepareOnNode(document, objects, url);
  const followed = runSource(
    new HttpSource({
      url,
      headers,
      checkFrequencyMs: {current: PERIOD_MS},
      clock,
      acceptsWorkloads: true,
      prepare,
    }),
  );
  await until(() => countPauses(clock) === 1);
  const next = async (response: string | Responder): Promise<void> => {
    responder = response;
    const pauses = countPauses(clock);
    await clock.advance(PERIOD_MS);
    await until(() => countPauses(clock) > pauses);
  };
  return {url, requests, followed, next};
}

function podList(...names: readonly string[]): string {
  const items = names.map((name) => aRawPod({}, {name}));
  return JSON.stringify({apiVersion: 'v1', kind: 'PodList', items});
}

describe('the pods of a URL', () => {
  test('are a Pod or a list, and are set together with the objects', async () => {
    const {followed, next} = await startScene(`${podManifest('a')}---\n${configMapManifest('c', 'x')}`);
    expect(followed.names()).toEqual(['a-node1']);
    expect(followed.sets[0]?.objects).toMatchObject([{kind: 'ConfigMap', metadata: {name: 'c'}}]);
    expect(followed.sets[0]?.pods[0]?.pod.metadata.annotations).toMatchObject({
      'kubernetes.io/config.source': 'http',
    });
    await next(podList('b', 'c'));
    expect(followed.names()).toEqual(['b-node1', 'c-node1']);
  });

  test('are set together with workloads; an invalid workload changes nothing', async () => {
    const deployment = (image: string): string =>
      JSON.stringify({
        ...{apiVersion: 'apps/v1', kind: 'Deployment', metadata: {name: 'web'}},
        spec: {
          selector: {matchLabels: {a: 'b'}},
          template: {metadata: {labels: {a: 'b'}}, spec: {containers: [{name: 'main', image}]}},
        },
      });
    const {followed, next} = await startScene(deployment('busybox'));
    const [workload] = followed.sets[0]?.workloads ?? [];
    expect(workload).toMatchObject({kind: 'pods', workload: {kind: 'Deployment'}});
    const {pods = []} = workload?.kind === 'pods' ? workload : {};
    expect(pods.map(({pod}) => pod.metadata.name)).toEqual([
      expect.stringMatching(/^web-[a-z0-9]+-[a-z0-9]{5}-node1$/),
    ]);
    await next(deployment(''));
    expect(followed.sets).toHaveLength(1);
    expect(followed.messages()[0]).toMatch(/spec\.template\.spec\.containers\[0\]\.image: Required value/);
  });

  test('are set only when the response has changed', async () => {
    const {followed, next, requests} = await startScene(podList('a'));
    await next(podList('a'));
    await next(podList('a'));
    expect([requests.length, followed.sets.length]).toEqual([3, 1]);
  });

  test('are removed by an empty response, and return', async () => {
    const {followed, next} = await startScene(podList('a'));
    await next('');
    expect(followed.names()).toEqual([]);
    await next('');
    expect(followed.sets).toHaveLength(2);
    expect(followed.messages()[0]).toMatch(
      /^Failed to read pods from URL: zero-length data received from http:/,
    );
    await next(podList('a'));
    expect(followed.names()).toEqual(['a-node1']);
  });

  test('are requested with the configured headers and the credentials of the URL', async () => {
    const {requests} = await startScene(podList('a'), {'X-Node': ['a', 'b'], Accept: ['text/plain']});
    expect(requests[0]?.headers).toMatchObject({
      'x-node': 'a, b',
      accept: 'text/plain',
      authorization: `Basic ${Buffer.from('user:secret').toString('base64')}`,
    });
  });
});

describe('the pods do not change', () => {
  test.each<[string, string | Responder, RegExp]>([
    [
      'if the status is not 200',
      (_, response) => response.writeHead(404).end(),
      /: http:.*\/pods\?token=\*\*\*: 404 Not Found$/,
    ],
    [
      'if the connection is closed',
      (request) => request.socket.destroy(),
      /: Get "http:.*": socket hang up$/,
    ],
    ['if the response is not a manifest', '<html>', /couldn't parse as pod\(/],
    [
      'if one Pod of a list is invalid',
      podList('a', 'Bad_Name'),
      /invalid pod: \[items\[1\]\.metadata\.name: Invalid value: "Bad_Name-node1"/,
    ],
    ['if the response exceeds 10 MiB', 'x'.repeat(10 * 1024 * 1024 + 1), /the read limit is reached$/],
    [
      'if there are too many redirects',
      (_, response) => response.writeHead(302, {location: '/pods'}).end(),
      /stopped after 10 redirects$/,
    ],
  ])('%s', async (_title, response, expected) => {
    const {followed, next} = await startScene(podList('a'));
    await next(response);
    expect(followed.names()).toEqual(['a-node1']);
    expect(followed.messages()).toEqual([expect.stringMatching(expected)]);
    expect(JSON.stringify(followed.reports)).not.toContain('secret');
  });

  test('if the request times out', async () => {
    const clock = new FakeClock();
    const port = await listen(createServer(() => undefined));
    const url = `http://127.0.0.1:${port}/`;
    const followed = runSource(
      new HttpSource({
        url,
        headers: {},
        checkFrequencyMs: {current: PERIOD_MS},
        clock,
        acceptsWorkloads: false,
        prepare: prepareOnNode,
      }),
    );
    await until(() => clock.sleeping === 1);
    await clock.advance(10_000);
    await followed.untilReported(1);
    expect(followed.messages()[0]).toContain('context deadline exceeded (Client.Timeout exceeded)');
  });

  test('if the certificate of the server is not trusted', async () => {
    const server = createTlsServer({cert: CERTIFICATE, key: KEY}, serve(podList('a')));
    const url = `https://127.0.0.1:${await listen(server)}/`;
    const clock = new FakeClock();
    const followed = runSource(
      new HttpSource({
        url,
        headers: {},
        checkFrequencyMs: {current: PERIOD_MS},
        clock,
        acceptsWorkloads: false,
        prepare: prepareOnNode,
      }),
    );
    await followed.untilReported(1);
    expect(followed.messages()[0]).toMatch(/self[- ]signed certificate|unable to verify/);
    expect(followed.sets).toEqual([]);
  });
});

test('an invalid response is reported once, with its position', async () => {
  const {followed, next} = await startScene(podManifest('Bad_Name'));
  await next(podManifest('Bad_Name'));
  expect(followed.reports).toMatchObject([
    {source: 'http', level: 'error', message: 'Failed to read pods from URL', issues: [{line: 4, column: 9}]},
  ]);
});

test('repeated failures are logged at a higher verbosity, and the next success is logged', async () => {
  const fail: Responder = (_, response) => response.writeHead(500).end();
  const {followed, next} = await startScene(fail);
  for (let failure = 1; failure < 6; failure += 1) await next(fail);
  await next(podList('a'));
  expect(followed.reports.map(({message, verbosity}) => `${verbosity} ${message}`)).toEqual([
    '0 Failed to read pods from URL',
    '0 Failed to read pods from URL',
    '0 Failed to read pods from URL',
    '0 Failed to read pods from URL. Dropping verbosity of this message to V(4)',
    '4 Failed to read pods from URL',
    '4 Failed to read pods from URL',
    '0 Successfully read pods from URL',
  ]);
});

test('credentials are not sent to another host after a redirect', async () => {
  const seen: IncomingMessage[] = [];
  const other = await listen(
    createServer((request, response) => {
      seen.push(request);
      response.end(podList('a'));
    }),
  );
  const {followed} = await startScene(
    (_, response) => response.writeHead(302, {location: `http://127.0.0.1:${other}/there`}).end(),
    {Authorization: ['Bearer t'], 'X-Node': ['n']},
  );
  expect(followed.names()).toEqual(['a-node1']);
  expect(seen[0]?.headers).toMatchObject({'x-node': 'n'});
  expect(seen[0]?.headers.authorization).toBeUndefined();
});

test('credentials are not sent after a redirect from https to http, which is reported once', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  onTestFinished(() => void vi.unstubAllEnvs());
  const seen: IncomingMessage[] = [];
  const plain = createServer((request, response) => {
    seen.push(request);
    response.end(podList('a'));
  });
  const port = await listen(
    // Both protocols share a port, so that the host is the same.
    createSocketServer((socket) => {
      socket.once('data', (first) => {
        socket.pause();
        socket.unshift(first);
        (first[0] === TLS_HANDSHAKE ? encrypted : plain).emit('connection', socket);
        process.nextTick(() => socket.resume());
      });
    }),
  );
  const encrypted = createTlsServer({cert: CERTIFICATE, key: KEY}, (_, response) => {
    response.writeHead(302, {location: `http://127.0.0.1:${port}/there`}).end();
  });
  const clock = new FakeClock();
  const followed = runSource(
    new HttpSource({
      url: `https://127.0.0.1:${port}/`,
      headers: {Authorization: ['Bearer t'], 'X-Node': ['n']},
      checkFrequencyMs: {current: PERIOD_MS},
      clock,
      acceptsWorkloads: false,
      prepare: prepareOnNode,
    }),
  );
  await until(() => countPauses(clock) === 1);
  await clock.advance(PERIOD_MS);
  await until(() => countPauses(clock) === 2);
  expect(seen.map(({headers}) => [headers['x-node'], headers.authorization])).toEqual([
    ['n', undefined],
    ['n', undefined],
  ]);
  expect(followed.reports).toMatchObject([
    {
      level: 'warning',
      message: expect.stringMatching(/redirects from https to http$/) as string,
      fields: {url: `http://127.0.0.1:${port}/there`},
    },
  ]);
});
