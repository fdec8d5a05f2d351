import {once} from 'node:events';
import {createServer, connect, type Socket} from 'node:net';
import {expect, onTestFinished, test} from 'vitest';
import {exchangeHeads, readBody} from '../../../src/streaming/socket/http-exchange.js';
import {listenOnLoopback} from '../../base/listen-on-loopback.js';

const REQUEST = {
  method: 'POST',
  target: '/exec/x',
  headers: {Host: 'node:1', 'Content-Length': '0'},
} as const;
const {signal} = new AbortController();

/** Connects to a server that passes each connection to `serve`. */
async function connected(serve: (socket: Socket) => void): Promise<Socket> {
  const server = createServer((socket) => {
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined);
    serve(socket);
  });
  const socket = connect(await listenOnLoopback(server), '127.0.0.1');
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });
  await once(socket, 'connect');
  return socket;
}

test('a request is sent, and what follows the head of its response stays in the socket', async () => {
  let request = '';
  const socket = await connected((peer) =>
    peer.on('data', (chunk) => {
      request += chunk.toString();
      if (request.endsWith('\r\n\r\n')) peer.write('HTTP/1.1 101 Yes\r\n\r\nfirst');
    }),
  );
  const {status} = await exchangeHeads(socket, REQUEST, signal);
  expect(status).toBe(101);
  expect(request).toBe('POST /exec/x HTTP/1.1\r\nHost: node:1\r\nContent-Length: 0\r\n\r\n');
  const [chunk] = (await once(socket.resume(), 'data')) as [Buffer];
  expect(chunk.toString()).toBe('first');
});

test('a response may come byte by byte', async () => {
  const socket = await connected((peer) => {
    peer.setNoDelay(true);
    const bytes = 'HTTP/1.1 403 No\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nwhy\r\n0\r\n\r\n'.split('');
    const next = (): void => {
      const byte = bytes.shift();
      if (byte !== undefined) peer.write(byte, () => setImmediate(next));
    };
    peer.once('data', next);
  });
  const head = await exchangeHeads(socket, REQUEST, signal);
  expect(head).toMatchObject({status: 403, reason: 'No'});
  expect(String(await readBody(socket, head, {maxBytes: 100, signal}))).toBe('why');
});

test('of a body that never ends, a part is read', async () => {
  const socket = await connected((peer) => {
    const flood = (): void => {
      if (peer.writable) peer.write('x'.repeat(1024), flood);
    };
    peer.once('data', () => peer.write('HTTP/1.1 500 No\r\n\r\n', flood));
  });
  const head = await exchangeHeads(socket, REQUEST, signal);
  expect((await readBody(socket, head, {maxBytes: 100, signal})).length).toBe(100);
});

test('a connection that ends before a response is an error, and so is one that is reset', async () => {
  const ended = await connected((peer) => peer.once('data', () => peer.end('HTTP/1.1 101 Y')));
  await expect(exchangeHeads(ended, REQUEST, signal)).rejects.toThrow('socket hang up');
  const reset = await connected((peer) => peer.once('data', () => peer.resetAndDestroy()));
  await expect(exchangeHeads(reset, REQUEST, signal)).rejects.toThrow('read ECONNRESET');
});

test('the signal ends the wait for a response', async () => {
  const controller = new AbortController();
  const socket = await connected((peer) =>
    peer.once('data', () => {
      controller.abort(new Error('enough'));
    }),
  );
  await expect(exchangeHeads(socket, REQUEST, controller.signal)).rejects.toThrow('enough');
  expect(socket.listenerCount('data')).toBe(0);
});
