import {once} from 'node:events';
import {connect, type Socket} from 'node:net';
import {describe, expect, onTestFinished, test} from 'vitest';
import {ManualClock} from '../../streaming/manual-clock.js';
import {until} from '../../base/until.js';
import {listen, type Respond} from '../../../src/kubelet/server/listener.js';
import {BODY_LIMIT_MS, HEAD_LIMIT_MS, IDLE_LIMIT_MS} from '../../../src/kubelet/server/request-limits.js';

const HEAD = 'GET / HTTP/1.1\r\nHost: x\r\n';

interface Client {
  readonly socket: Socket;
  said: string;
  readonly closed: () => boolean;
}

/** A server that answers as it is told, and a client of it. */
async function start(respond: Respond) {
  const clock = new ManualClock();
  const listener = await listen({address: '127.0.0.1', port: 0}, {respond, clock, wayOut: ''});
  onTestFinished(() => listener.close());
  const socket = connect(Number(new URL(listener.url).port), '127.0.0.1');
  onTestFinished(() => {
    socket.destroy();
  });
  const client: Client = {socket, said: '', closed: () => socket.destroyed};
  socket.on('data', (chunk: Buffer) => (client.said += chunk.toString())).on('error', () => undefined);
  await once(socket, 'connect');
  await until(() => clock.sleeping === 1);
  return {client, clock};
}

const answer: Respond = (_request, response) => {
  response.end('ok');
  return Promise.resolve();
};
const never: Respond = () => Promise.resolve();

describe('who is too slow', () => {
  test.each(['', HEAD])('with the first head is told so: %j', async (sent) => {
    const {client, clock} = await start(answer);
    client.socket.write(sent);
    await clock.advance(HEAD_LIMIT_MS - 1);
    expect(client.said).toBe('');
    await clock.advance(1);
    await until(client.closed);
    expect(client.said).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('with the next request is cut off', async () => {
    const {client, clock} = await start(answer);
    client.socket.write(`${HEAD}\r\n`);
    await until(() => client.said.endsWith('ok'));
    client.socket.write(HEAD);
    await clock.advance(IDLE_LIMIT_MS - 1);
    expect(client.closed()).toBe(false);
    await clock.advance(1);
    await until(client.closed);
  });

  test('with the rest of a request is cut off', async () => {
    let asked = false;
    const {client, clock} = await start(async (request) => {
      asked = true;
      request.resume();
      await never(request, undefined as never);
    });
    client.socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf`);
    await until(() => asked);
    await clock.advance(BODY_LIMIT_MS);
    await until(client.closed);
  });
});

test('an answer may take its time, also when the next request has come', async () => {
  const answers: (() => void)[] = [];
  const {client, clock} = await start((_request, response) => {
    answers.push(() => response.end('ok'));
    return Promise.resolve();
  });
  client.socket.write(`${HEAD}\r\n${HEAD}\r\n`);
  await until(() => answers.length === 2);
  await clock.advance(BODY_LIMIT_MS + IDLE_LIMIT_MS);
  answers[0]?.();
  await until(() => client.said.endsWith('ok'));
  await clock.advance(BODY_LIMIT_MS + IDLE_LIMIT_MS);
  answers[1]?.();
  await until(() => client.said.match(/ok/g)?.length === 2);
  expect(client.closed()).toBe(false);
});
