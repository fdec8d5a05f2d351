import {once} from 'node:events';
import {describe, expect, onTestFinished, test} from 'vitest';
import {FakeClock} from '../fakes/fake-clock.js';
import {until} from '../base/until.js';
import {listen} from '../../src/http-server/listener.js';
import {
  BODY_LIMIT_MS,
  HEAD_LIMIT_MS,
  IDLE_LIMIT_MS,
  type Exchange,
  type RequestHandler,
} from '../../src/http-server/request-server.js';
import {TurnQueue} from '../../src/http-server/turn-queue.js';
import {connectClient, HEAD, pipelined} from './http-client.js';

/** Starts a server with the handler and connects a client to it. */
async function start(respond: RequestHandler) {
  const clock = new FakeClock();
  const {schedule} = new TurnQueue();
  const listener = await listen({address: '127.0.0.1', port: 0}, {respond, clock, schedule, hint: ''});
  onTestFinished(() => listener.close());
  const client = await connectClient(listener.url);
  await until(() => clock.sleeping === 1);
  return {client, clock, url: listener.url};
}

/** Starts a server whose responses the test sends, and connects a client to it. */
async function startHeld() {
  const exchanges: Exchange[] = [];
  const started = await start(async (exchange) => {
    exchanges.push(exchange);
    await once(exchange.response, 'close');
  });
  return {...started, exchanges};
}

const respondOk: RequestHandler = async ({response}) => {
  response.end('ok');
};

const okCount = (text: string): number => text.match(/ok/g)?.length ?? 0;

describe('a slow client', () => {
  test.each(['', HEAD])('gets a 408 for a late first head: %j', async (sent) => {
    const {client, clock} = await start(respondOk);
    client.socket.write(sent);
    await clock.advance(HEAD_LIMIT_MS - 1);
    expect(client.received).toBe('');
    await clock.advance(1);
    await until(() => client.received.endsWith('\r\n\r\n'));
    expect(client.received).toMatch(/^HTTP\/1\.1 408 /);
    await clock.advance(HEAD_LIMIT_MS);
    await until(() => client.isClosed || client.socket.end().destroyed);
  });

  test('that sends its head byte by byte gets a 408', async () => {
    const {client, clock} = await start(respondOk);
    for (let at = 0; at < HEAD.length; at += 1) {
      client.socket.write(HEAD.charAt(at));
      await clock.advance(HEAD_LIMIT_MS / HEAD.length);
    }
    await clock.advance(1);
    await until(() => client.received.startsWith('HTTP/1.1 408 '));
  });

  test('is disconnected if the next request is late', async () => {
    const {client, clock} = await start(respondOk);
    client.socket.write(`${HEAD}\r\n`);
    await until(() => client.received.endsWith('ok') && clock.sleeping === 1);
    client.socket.write(HEAD);
    await clock.advance(IDLE_LIMIT_MS - 1);
    expect(client.isClosed).toBe(false);
    await clock.advance(1);
    await until(() => client.socket.readableEnded);
  });

  test('is disconnected if the body of a request is late', async () => {
    const {client, clock, exchanges} = await startHeld();
    client.socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf`);
    await until(() => exchanges.length === 1);
    exchanges[0]?.request.resume();
    await clock.advance(BODY_LIMIT_MS);
    await until(() => client.isClosed || client.socket.readableEnded);
  });
});

describe('requests that a client sends ahead', () => {
  test('are served one at a time, in order', async () => {
    const paths: (string | undefined)[] = [];
    let inProgress = 0;
    let most = 0;
    const {client} = await start(async ({request, response}) => {
      inProgress += 1;
      most = Math.max(most, inProgress);
      paths.push(request.url);
      await new Promise((resolve) => setImmediate(resolve));
      inProgress -= 1;
      response.end('ok');
    });
    const expected = Array.from({length: 3000}, (_, index) => `/${index}`);
    client.socket.write(expected.map((path) => pipelined(1, path)).join(''));
    await until(() => okCount(client.received) === 3000);
    expect(paths).toEqual(expected);
    expect(most).toBe(1);
  });

  test.each([
    ['byte by byte', Array.from(pipelined(3))],
    ['with bodies', ['POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n\n\n\n\n'.repeat(3)]],
    [
      'with chunked bodies',
      ['POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'.repeat(3)],
    ],
    ['with additional empty lines', [`\r\n\r\n${pipelined(1)}\r\n${pipelined(1)}\r\n\r\n${pipelined(1)}`]],
  ])('wait for each other if they arrive %s', async (_how, parts) => {
    const {client, exchanges} = await startHeld();
    for (const part of parts) {
      client.socket.write(part);
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const count of [1, 2, 3]) {
      await until(() => exchanges.length === count);
      expect(exchanges).toHaveLength(count);
      const {request, response} = exchanges.at(-1)!;
      await until(() => request.complete || !request.resume().readableFlowing);
      response.end('ok');
    }
    await until(() => okCount(client.received) === 3);
  });

  test('are not started while the client does not read its responses', async () => {
    const unsent: number[] = [];
    const {client} = await start(async ({response, socket}) => {
      unsent.push(socket.writableLength);
      response.end(`ok${' '.repeat(100_000)}`);
    });
    client.socket.pause();
    client.socket.write(pipelined(300));
    await until(() => unsent.length > 1);
    client.socket.resume();
    await until(() => okCount(client.received) === 300);
    expect(new Set(unsent)).toEqual(new Set([0]));
  });

  test('are dropped when the client disconnects', async () => {
    const {client, exchanges} = await startHeld();
    client.socket.write(pipelined(3000));
    await until(() => exchanges.length === 1);
    client.socket.resetAndDestroy();
    const {socket} = exchanges[0]!;
    for (let served = 0; !socket.destroyed; served += 1) {
      exchanges.at(-1)?.response.end('ok');
      await until(() => socket.destroyed || exchanges.length > served + 1);
    }
    expect(exchanges.length).toBeLessThan(100);
  });

  test('are all served if the client closes its side of the connection', async () => {
    const {client} = await start(async ({response}) => {
      await new Promise((resolve) => setImmediate(resolve));
      response.end('ok');
    });
    client.socket.end(pipelined(100));
    await until(() => client.isClosed);
    expect(okCount(client.received)).toBe(100);
  });

  test('become the first bytes of an upgraded connection', async () => {
    const {client} = await start(async ({response, upgrade}) => {
      if (upgrade === undefined) {
        response.end('ok');
        return;
      }
      response.detachSocket(upgrade.socket);
      upgrade.socket.write(`upgraded ${upgrade.head.toString()}`);
      upgrade.socket.pipe(upgrade.socket);
    });
    client.socket.write(`${pipelined(1)}${HEAD}Connection: Upgrade\r\nUpgrade: x\r\n\r\nfirst`);
    await until(() => client.received.includes('upgraded'));
    expect(client.received).toMatch(/ok[^]*upgraded first$/);
    client.socket.write(' second');
    await until(() => client.received.endsWith('first second'));
  });
});

test('the signal of a request aborts when the client disconnects', async () => {
  const {client, exchanges} = await startHeld();
  client.socket.write(pipelined(1));
  await until(() => exchanges.length === 1);
  expect(exchanges[0]?.signal.aborted).toBe(false);
  client.socket.end();
  await until(() => exchanges[0]?.signal.aborted === true);
});

test('a slow response is not interrupted, even if the next request has arrived', async () => {
  const {client, clock, exchanges} = await startHeld();
  client.socket.write(pipelined(2));
  for (const count of [1, 2]) {
    await until(() => exchanges.length === count);
    await clock.advance(BODY_LIMIT_MS + IDLE_LIMIT_MS);
    exchanges.at(-1)?.response.end('ok');
    await until(() => okCount(client.received) === count);
  }
  expect(client.isClosed).toBe(false);
});

test('a connection is closed after a response that does not wait for the body of the request', async () => {
  const {client} = await start(async ({response}) => {
    response.shouldKeepAlive = false;
    response.end('ok');
  });
  client.socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n');
  await until(() => client.socket.readableEnded);
  expect(client.received).toMatch(/^HTTP\/1.1 200 [^]*ok$/);
});
