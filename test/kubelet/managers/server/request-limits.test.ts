import {once} from 'node:events';
import {connect, type Socket} from 'node:net';
import {describe, expect, onTestFinished, test} from 'vitest';
import {FakeClock} from '../../../fakes/fake-clock.js';
import {until} from '../../../base/until.js';
import {listen, type RequestHandler} from '../../../../src/kubelet/managers/server/listener.js';
import {
  BODY_LIMIT_MS,
  HEAD_LIMIT_MS,
  IDLE_LIMIT_MS,
} from '../../../../src/kubelet/managers/server/request-limits.js';

const HEAD = 'GET / HTTP/1.1\r\nHost: x\r\n';

interface Client {
  readonly socket: Socket;
  received: string;
  readonly closed: () => boolean;
}

/** Starts a server with the handler and connects a client to it. */
async function start(respond: RequestHandler) {
  const clock = new FakeClock();
  const listener = await listen({address: '127.0.0.1', port: 0}, {respond, clock, hint: ''});
  onTestFinished(() => listener.close());
  const socket = connect(Number(new URL(listener.url).port), '127.0.0.1');
  onTestFinished(() => {
    socket.destroy();
  });
  const client: Client = {socket, received: '', closed: () => socket.destroyed};
  socket.on('data', (chunk: Buffer) => (client.received += chunk.toString())).on('error', () => undefined);
  await once(socket, 'connect');
  await until(() => clock.sleeping === 1);
  return {client, clock};
}

const respondOk: RequestHandler = (_request, response) => {
  response.end('ok');
  return Promise.resolve();
};
const neverRespond: RequestHandler = () => Promise.resolve();

describe('a slow client', () => {
  test.each(['', HEAD])('gets a 408 for a late first head: %j', async (sent) => {
    const {client, clock} = await start(respondOk);
    client.socket.write(sent);
    await clock.advance(HEAD_LIMIT_MS - 1);
    expect(client.received).toBe('');
    await clock.advance(1);
    await until(client.closed);
    expect(client.received).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('is disconnected if the next request is late', async () => {
    const {client, clock} = await start(respondOk);
    client.socket.write(`${HEAD}\r\n`);
    await until(() => client.received.endsWith('ok'));
    client.socket.write(HEAD);
    await clock.advance(IDLE_LIMIT_MS - 1);
    expect(client.closed()).toBe(false);
    await clock.advance(1);
    await until(client.closed);
  });

  test('is disconnected if the body of a request is late', async () => {
    let requested = false;
    const {client, clock} = await start(async (request) => {
      requested = true;
      request.resume();
      await neverRespond(request, undefined as never);
    });
    client.socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf`);
    await until(() => requested);
    await clock.advance(BODY_LIMIT_MS);
    await until(client.closed);
  });
});

test('a slow response is not interrupted, even if the next request has arrived', async () => {
  const responses: (() => void)[] = [];
  const {client, clock} = await start((_request, response) => {
    responses.push(() => response.end('ok'));
    return Promise.resolve();
  });
  client.socket.write(`${HEAD}\r\n${HEAD}\r\n`);
  await until(() => responses.length === 2);
  await clock.advance(BODY_LIMIT_MS + IDLE_LIMIT_MS);
  responses[0]?.();
  await until(() => client.received.endsWith('ok'));
  await clock.advance(BODY_LIMIT_MS + IDLE_LIMIT_MS);
  responses[1]?.();
  await until(() => client.received.match(/ok/g)?.length === 2);
  expect(client.closed()).toBe(false);
});
