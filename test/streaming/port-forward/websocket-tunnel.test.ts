import {once} from 'node:events';
import {createServer, connect, type AddressInfo, type Socket} from 'node:net';
import {expect, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import {forwardConnection} from '../../../src/streaming/port-forward/forward-connection.js';
import {openTunnel} from '../../../src/streaming/port-forward/open-tunnel.js';
import {Patience} from '../../../src/streaming/port-forward/patience.js';
import type {FarFailure} from '../../../src/streaming/port-forward/tunnel.js';
import {until} from '../../base/until.js';
import {ManualClock} from '../manual-clock.js';
import {collectMessages, onChannel, startWebSocketFake} from '../websocket-server.js';
import {readAll} from './spdy-fake.js';

const V4 = 'v4.channel.k8s.io';

/** A server that greets as real ones do, with the port on each channel, and a connection forwarded through it. */
async function forwarding(clock = new ManualClock()) {
  const server = await startWebSocketFake({
    protocols: [V4],
    onOpen: (socket) => {
      for (const channel of [0, 1]) socket.send(onChannel(channel, Buffer.of(0x90, 0x1f)));
    },
  });
  const asked: (readonly number[])[] = [];
  const settings = {signal: new AbortController().signal, clock: systemClock, tls: {}, env: {}};
  const url = async (ports: readonly number[]): Promise<string> => {
    asked.push(ports);
    return server.url;
  };
  const tunnel = await openTunnel(url, {...settings, clock, transport: 'websocket'});
  const {local, far, close} = await localPair();
  const remote = server.opened();
  const failure: Promise<FarFailure | undefined> = tunnel
    .connect(8080)
    .then((end) => forwardConnection(far, end, new Patience(1000, systemClock)));
  return {
    server,
    asked,
    local,
    failure,
    clock,
    remote: await remote,
    [Symbol.asyncDispose]: async () => {
      tunnel.close();
      close();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Both ends of a local connection. */
async function localPair(): Promise<{local: Socket; far: Socket; close: () => void}> {
  const server = createServer({allowHalfOpen: true});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const {port} = server.address() as AddressInfo;
  const local = connect({port, host: '127.0.0.1', allowHalfOpen: true});
  const [far] = (await once(server, 'connection')) as [Socket];
  for (const socket of [local, far]) socket.on('error', () => undefined);
  const close = (): void => {
    server.close();
    local.destroy();
    far.destroy();
  };
  return {local, far, close};
}

test('the runtime is asked for the port, and what greets is no data', async () => {
  await using scene = await forwarding();
  const messages = collectMessages(scene.remote);
  scene.local.write('question');
  await until(() => messages.length === 1);
  scene.remote.send(onChannel(0, 'answer'));
  scene.remote.terminate();
  expect(await readAll(scene.local)).toBe('answer');
  expect({asked: scene.asked, messages}).toEqual({asked: [[8080]], messages: [onChannel(0, 'question')]});
  scene.local.end();
  expect(await scene.failure).toBeUndefined();
});

test('a refused connection is reset, and the runtime heard', async () => {
  await using scene = await forwarding();
  scene.remote.send(onChannel(1, 'connection refused'));
  scene.remote.terminate();
  expect(await scene.failure).toEqual({kind: 'refused', message: 'connection refused'});
  await until(() => scene.local.destroyed);
});

test('after the end of what the local side sends it ends as soon as nothing comes any more', async () => {
  await using scene = await forwarding();
  let closed = false;
  scene.remote.once('close', () => (closed = true));
  scene.local.end('last');
  await until(() => scene.clock.sleeping === 1);
  scene.remote.send(onChannel(0, 'still'));
  await once(scene.local, 'data');
  await scene.clock.advance(1000);
  expect(closed).toBe(false);
  await scene.clock.advance(1000);
  await scene.failure;
  await until(() => closed);
});

test('a server that takes no SPDY is spoken to over WebSocket, at a URL of its own', async () => {
  await using server = await startWebSocketFake({protocols: [V4]});
  const asked: (readonly number[])[] = [];
  const url = async (ports: readonly number[]): Promise<string> => {
    asked.push(ports);
    return server.url;
  };
  const settings = {signal: new AbortController().signal, clock: systemClock, tls: {}, env: {}};
  const tunnel = await openTunnel(url, {...settings, transport: 'auto'});
  const end = await tunnel.connect(80);
  expect(asked).toEqual([[], [80]]);
  end.close();
  await expect(openTunnel(url, {...settings, transport: 'spdy'})).rejects.toMatchObject({status: 403});
});
