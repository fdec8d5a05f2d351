import {once} from 'node:events';
import {constants, createServer, type Http2Server, type ServerHttp2Session} from 'node:http2';
import {join} from 'node:path';
import fc from 'fast-check';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {Http2Connection} from '../../../src/cri/http2/http2-connection.js';
import {encodeHeaders, type HeaderField} from '../../../src/cri/http2/hpack.js';
import type {Exchange} from '../../../src/cri/http2/http2-stream.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

/* Interoperation with Node.js's own HTTP/2 (nghttp2), in both directions. */

interface Response {
  readonly headers: readonly HeaderField[];
  readonly body: string;
  readonly trailers: readonly HeaderField[];
}

let directory: string;
let server: Http2Server;
let connection: Http2Connection;
const sessions = new Set<ServerHttp2Session>();

/** Starts a server with the options and connects to it. */
async function start(options: object): Promise<void> {
  server = createServer(options);
  server.on('session', (session) => sessions.add(session));
  server.listen(join(directory, 'node.sock'));
  await once(server, 'listening');
  connection = new Http2Connection({
    path: join(directory, 'node.sock'),
    connectTimeoutMs: 5000,
    onEnd: () => undefined,
  });
}

beforeEach(async () => {
  directory = await temporaryDirectory();
});

afterEach(async () => {
  connection.close();
  for (const session of sessions) session.destroy();
  server.close();
});

/** Sends a request and returns the complete response. */
async function send(body: Buffer, headers: readonly HeaderField[] = []): Promise<Response> {
  return await new Promise((resolve, reject) => {
    const blocks: (readonly HeaderField[])[] = [];
    const chunks: Buffer[] = [];
    const end = (): void => {
      const [first = [], last = []] = blocks;
      resolve({headers: first, body: Buffer.concat(chunks).toString('latin1'), trailers: last});
    };
    const failed = (reason: unknown) => {
      reject(new Error(JSON.stringify(reason)));
    };
    const exchange: Exchange = {
      headerBlock: () =>
        encodeHeaders([
          [':method', 'POST'],
          [':scheme', 'http'],
          [':path', '/'],
          [':authority', 'x'],
          ...headers,
        ]),
      body,
      onHeaders: (fields, last) => {
        blocks.push(fields ?? [['too', 'long']]);
        if (last) end();
      },
      onData: (chunk) => chunks.push(Buffer.from(chunk)),
      onEnd: end,
      onReset: failed,
      onNotSent: () => {
        failed('not sent');
      },
      onNotProcessed: () => {
        failed('not processed');
      },
      onFailure: failed,
    };
    connection.request(exchange);
  });
}

/** Header values with all allowed bytes. */
const value = fc.oneof(
  fc.constantFrom('', '0', 'application/grpc', 'again and again'),
  fc
    .array(fc.oneof(fc.integer({min: 0x20, max: 0x7e}), fc.integer({min: 0x80, max: 0xff})), {maxLength: 300})
    .map((codes) => String.fromCharCode(...codes).trim()),
);
const name = fc.constantFrom('grpc-message', 'x-a', 'x-b', 'content-type', 'server', 'etag', 'x-long-name');
const fields = fc.uniqueArray(fc.tuple(name, value), {selector: ([key]) => key, maxLength: 5});
const anAnswer = fc.record({
  headers: fields,
  chunks: fc.array(fc.nat(40_000), {maxLength: 4}),
  trailers: fields,
});

test.each([
  ['unpadded', {}],
  ['padded', {paddingStrategy: constants.PADDING_STRATEGY_MAX}],
  ['without a header table', {maxDeflateDynamicTableSize: 0}],
  ['with a small header table', {maxDeflateDynamicTableSize: 200}],
])('a response sent %s is received unchanged', async (_, options) => {
  await start(options);
  const answers: {headers: HeaderField[]; chunks: number[]; trailers: HeaderField[]}[] = [];
  server.on('stream', (stream) => {
    const {headers, chunks, trailers} = answers.shift()!;
    stream.respond({':status': 200, ...Object.fromEntries(headers)}, {
      waitForTrailers: true,
      sendDate: false,
    } as object);
    stream.on('wantTrailers', () => {
      stream.sendTrailers(Object.fromEntries(trailers));
    });
    for (const length of chunks) stream.write('x'.repeat(length));
    stream.end();
  });
  const known = (list: readonly HeaderField[]) =>
    list.filter(([key]) => key !== ':status' && key !== 'date').toSorted();
  await fc.assert(
    fc.asyncProperty(fc.array(anAnswer, {minLength: 1, maxLength: 5}), async (sent) => {
      answers.push(...(sent as typeof answers));
      const received = await Promise.all(sent.map(() => send(Buffer.from('request'))));
      expect(received.map(({headers}) => known(headers))).toEqual(sent.map(({headers}) => known(headers)));
      expect(received.map(({trailers}) => known(trailers))).toEqual(
        sent.map(({trailers}) => known(trailers)),
      );
      expect(received.map(({body}) => body.length)).toEqual(
        sent.map(({chunks}) => chunks.reduce((sum, length) => sum + length, 0)),
      );
    }),
    {numRuns: 100, seed: 7540},
  );
});

test.each([
  ['with defaults', {}],
  ['with windows of 1,000 bytes', {settings: {initialWindowSize: 1000}}],
  ['with larger frames', {settings: {initialWindowSize: 10_000_000, maxFrameSize: 100_000}}],
  ['with one call at a time', {settings: {maxConcurrentStreams: 1}}],
  ['without a header table', {settings: {headerTableSize: 0}}],
])('requests are received unchanged by a server %s', async (_, options) => {
  await start(options);
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      stream.respond({':status': 200, 'x-seen': String(headers['x-sent'])});
      stream.end(String(Buffer.concat(chunks).length));
    });
  });
  const sizes = [5, 999, 1000, 16_384, 16_385, 300_000, 5];
  // One after the other: the server's settings only apply after its first frame.
  for (const size of [1, 2]) await send(Buffer.alloc(size));
  const received = await Promise.all(
    sizes.map((size) => send(Buffer.alloc(size, 'x'), [['x-sent', 'y'.repeat(Math.min(size, 20_000))]])),
  );
  expect(received.map(({body}) => Number(body))).toEqual(sizes);
  expect(received.map(({headers}) => headers.find(([key]) => key === 'x-seen')?.[1].length)).toEqual(
    sizes.map((size) => Math.min(size, 20_000)),
  );
});

test('settings that change during requests are applied', async () => {
  await start({settings: {initialWindowSize: 100_000}});
  server.on('stream', (stream) => {
    let length = 0;
    stream.session?.settings({initialWindowSize: 10});
    stream.on('data', (chunk: Buffer) => (length += chunk.length));
    stream.on('end', () => {
      stream.session?.settings({initialWindowSize: 50_000, maxConcurrentStreams: 2});
      stream.respond({':status': 200});
      stream.end(String(length));
    });
  });
  await send(Buffer.alloc(1));
  const received = await Promise.all(Array.from({length: 10}, () => send(Buffer.alloc(200_000))));
  expect(received.map(({body}) => body)).toEqual(Array.from({length: 10}, () => '200000'));
});
