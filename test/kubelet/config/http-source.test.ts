import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import {createServer as createTlsServer} from 'node:https';
import {createServer as createSocketServer, type AddressInfo, type Server} from 'node:net';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import {HttpSource} from '../../../src/kubelet/config/http-source.js';
import {CERTIFICATE, KEY} from '../../fakes/streaming/certificate.js';
import {until} from '../../base/until.js';
import {ManualClock} from '../../streaming/manual-clock.js';
import {configMapManifest, follow, podManifest, prepareOnNode, type Followed} from './sources.js';

const PERIOD_MS = 20_000;
/** The first byte that a TLS client sends. */
const TLS_HANDSHAKE = 0x16;

/** Knows how often the source has begun to wait for its next look. */
class PausesClock extends ManualClock {
  pauses = 0;

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms === PERIOD_MS) this.pauses += 1;
    return super.sleep(ms, signal);
  }
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

interface Scene {
  readonly url: string;
  readonly requests: readonly IncomingMessage[];
  readonly followed: Followed;
  /** Another answer, and the next request. */
  readonly next: (answer: string | Answer) => Promise<void>;
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

function serve(text: string): Answer {
  return (_, response) => response.end(text);
}

async function aScene(first: string | Answer, headers = {}): Promise<Scene> {
  const requests: IncomingMessage[] = [];
  let answer = first;
  const server = createServer((request, response) => {
    requests.push(request);
    (typeof answer === 'string' ? serve(answer) : answer)(request, response);
  });
  const url = `http://user:secret@127.0.0.1:${await listen(server)}/pods`;
  const clock = new PausesClock();
  const prepare: typeof prepareOnNode = (document, objects) => prepareOnNode(document, objects, url);
  const followed = follow(new HttpSource({url, headers, checkFrequencyMs: PERIOD_MS, clock, prepare}));
  await until(() => clock.pauses === 1);
  const next = async (other: string | Answer): Promise<void> => {
    answer = other;
    const {pauses} = clock;
    await clock.advance(PERIOD_MS);
    await until(() => clock.pauses > pauses);
  };
  return {url, requests, followed, next};
}

function podList(...names: readonly string[]): string {
  const items = names.map((name) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name},
    spec: {containers: [{name: 'main', image: 'busybox'}]},
  }));
  return JSON.stringify({apiVersion: 'v1', kind: 'PodList', items});
}

describe('the pods of a URL', () => {
  test('are a Pod or a list; they come with the objects beside them', async () => {
    const {followed, next} = await aScene(`${podManifest('a')}---\n${configMapManifest('c', 'x')}`);
    expect(followed.names()).toEqual(['a-node1']);
    expect(followed.sets[0]?.objects).toMatchObject([{kind: 'ConfigMap', metadata: {name: 'c'}}]);
    expect(followed.sets[0]?.pods[0]?.pod.metadata.annotations).toMatchObject({
      'kubernetes.io/config.source': 'http',
    });
    await next(podList('b', 'c'));
    expect(followed.names()).toEqual(['b-node1', 'c-node1']);
  });

  test('are set only when the answer is another', async () => {
    const {followed, next, requests} = await aScene(podList('a'));
    await next(podList('a'));
    await next(podList('a'));
    expect([requests.length, followed.sets.length]).toEqual([3, 1]);
  });

  test('end with an empty answer, and return', async () => {
    const {followed, next} = await aScene(podList('a'));
    await next('');
    expect(followed.names()).toEqual([]);
    await next('');
    expect(followed.sets).toHaveLength(2);
    expect(followed.told()[0]).toMatch(/^Failed to read pods from URL: zero-length data received from http:/);
    await next(podList('a'));
    expect(followed.names()).toEqual(['a-node1']);
  });

  test('are asked for with the headers that are wanted, and the URL’s credentials', async () => {
    const {requests} = await aScene(podList('a'), {'X-Node': ['a', 'b'], Accept: ['text/plain']});
    expect(requests[0]?.headers).toMatchObject({
      'x-node': 'a, b',
      accept: 'text/plain',
      authorization: `Basic ${Buffer.from('user:secret').toString('base64')}`,
    });
  });
});

describe('pods stay as they were', () => {
  test.each<[string, string | Answer, RegExp]>([
    [
      'with a status that isn’t 200',
      (_, response) => response.writeHead(404).end(),
      /: http:.*\/pods: 404 Not Found$/,
    ],
    ['when the connection is cut', (request) => request.socket.destroy(), /: Get "http:.*": socket hang up$/],
    ['with no manifest', '<html>', /couldn't parse as pod\(/],
    [
      'when one of a list is faulty',
      podList('a', 'Bad_Name'),
      /invalid pod: \[items\[1\]\.metadata\.name: Invalid value: "Bad_Name-node1"/,
    ],
    ['with an answer of more than 10 MiB', 'x'.repeat(10 * 1024 * 1024 + 1), /the read limit is reached$/],
    [
      'when it is redirected for ever',
      (_, response) => response.writeHead(302, {location: '/pods'}).end(),
      /stopped after 10 redirects$/,
    ],
  ])('%s', async (_title, answer, expected) => {
    const {followed, next} = await aScene(podList('a'));
    await next(answer);
    expect(followed.names()).toEqual(['a-node1']);
    expect(followed.told()).toEqual([expect.stringMatching(expected)]);
    expect(JSON.stringify(followed.reports)).not.toContain('secret');
  });

  test('when the answer doesn’t come', async () => {
    const clock = new ManualClock();
    const port = await listen(createServer(() => undefined));
    const url = `http://127.0.0.1:${port}/`;
    const followed = follow(
      new HttpSource({url, headers: {}, checkFrequencyMs: PERIOD_MS, clock, prepare: prepareOnNode}),
    );
    await until(() => clock.sleeping === 1);
    await clock.advance(10_000);
    await followed.untilTold(1);
    expect(followed.told()[0]).toContain('context deadline exceeded (Client.Timeout exceeded)');
  });

  test('when the server’s certificate isn’t trusted', async () => {
    const server = createTlsServer({cert: CERTIFICATE, key: KEY}, serve(podList('a')));
    const url = `https://127.0.0.1:${await listen(server)}/`;
    const clock = new ManualClock();
    const followed = follow(
      new HttpSource({url, headers: {}, checkFrequencyMs: PERIOD_MS, clock, prepare: prepareOnNode}),
    );
    await followed.untilTold(1);
    expect(followed.told()[0]).toMatch(/self[- ]signed certificate|unable to verify/);
    expect(followed.sets).toEqual([]);
  });
});

test('a faulty answer is told of once, with its place', async () => {
  const {followed, next} = await aScene(podManifest('Bad_Name'));
  await next(podManifest('Bad_Name'));
  expect(followed.reports).toMatchObject([
    {source: 'http', level: 'error', message: 'Failed to read pods from URL', issues: [{line: 4, column: 9}]},
  ]);
});

test('failures are told of ever more quietly, and then that it works again', async () => {
  const fail: Answer = (_, response) => response.writeHead(500).end();
  const {followed, next} = await aScene(fail);
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

test('a redirection to another host takes no credentials along', async () => {
  const seen: IncomingMessage[] = [];
  const other = await listen(
    createServer((request, response) => {
      seen.push(request);
      response.end(podList('a'));
    }),
  );
  const {followed} = await aScene(
    (_, response) => response.writeHead(302, {location: `http://127.0.0.1:${other}/there`}).end(),
    {Authorization: ['Bearer t'], 'X-Node': ['n']},
  );
  expect(followed.names()).toEqual(['a-node1']);
  expect(seen[0]?.headers).toMatchObject({'x-node': 'n'});
  expect(seen[0]?.headers.authorization).toBeUndefined();
});

test('a redirection from https to http takes no credentials along, and is told of once', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  onTestFinished(() => void vi.unstubAllEnvs());
  const seen: IncomingMessage[] = [];
  const inClear = createServer((request, response) => {
    seen.push(request);
    response.end(podList('a'));
  });
  const port = await listen(
    // One port for both, as the default ports have one host.
    createSocketServer((socket) => {
      socket.once('data', (first) => {
        socket.pause();
        socket.unshift(first);
        (first[0] === TLS_HANDSHAKE ? encrypted : inClear).emit('connection', socket);
        process.nextTick(() => socket.resume());
      });
    }),
  );
  const encrypted = createTlsServer({cert: CERTIFICATE, key: KEY}, (_, response) => {
    response.writeHead(302, {location: `http://127.0.0.1:${port}/there`}).end();
  });
  const clock = new PausesClock();
  const followed = follow(
    new HttpSource({
      url: `https://127.0.0.1:${port}/`,
      headers: {Authorization: ['Bearer t'], 'X-Node': ['n']},
      checkFrequencyMs: PERIOD_MS,
      clock,
      prepare: prepareOnNode,
    }),
  );
  await until(() => clock.pauses === 1);
  await clock.advance(PERIOD_MS);
  await until(() => clock.pauses === 2);
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
