import {once} from 'node:events';
import {createServer, connect, type Socket} from 'node:net';
import {expect, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import {forwardConnection} from '../../../src/streaming/port-forward/forward-connection.js';
import {openTunnel} from '../../../src/streaming/port-forward/open-tunnel.js';
import {SharedDeadline} from '../../../src/streaming/port-forward/shared-deadline.js';
import type {RemoteFailure} from '../../../src/streaming/port-forward/tunnel.js';
import {listenOnLoopback} from '../../base/listen-on-loopback.js';
import {until} from '../../base/until.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import {collectMessages, onChannel, startFakeWebSocketServer} from '../websocket/fake-websocket-server.js';
import {readAll} from './fake-port-forward-server.js';

const V4 = 'v4.channel.k8s.io';

/** Starts a server that sends the port on each channel, as real ones do, and forwards a connection through it. */
async function forwarding(clock = new FakeClock()) {
  const server = await startFakeWebSocketServer({
    protocols: [V4],
    onOpen: (socket) => {
      for (const channel of [0, 1]) socket.send(onChannel(channel, Buffer.of(0x90, 0x1f)));
    },
  });
  const requested: (readonly number[])[] = [];
  const settings = {signal: new AbortController().signal, clock: systemClock, tls: {}, env: {}};
  const url = async (ports: readonly number[]): Promise<string> => {
    requested.push(ports);
    return server.url;
  };
  const tunnel = await openTunnel(url, {...settings, clock, transport: 'websocket'});
  const {local, accepted, close} = await localPair();
  const remote = server.opened();
  const failure: Promise<RemoteFailure | undefined> = tunnel
    .connect(8080)
    .then((end) => forwardConnection(accepted, end, new SharedDeadline(1000, systemClock)));
  return {
    server,
    requested,
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

/** Returns both ends of a local connection. */
async function localPair(): Promise<{local: Socket; accepted: Socket; close: () => void}> {
  const server = createServer({allowHalfOpen: true});
  const port = await listenOnLoopback(server);
  const local = connect({port, host: '127.0.0.1', allowHalfOpen: true});
  const [accepted] = (await once(server, 'connection')) as [Socket];
  for (const socket of [local, accepted]) socket.on('error', () => undefined);
  const close = (): void => {
    server.close();
    local.destroy();
    accepted.destroy();
  };
  return {local, accepted, close};
}

test('the port is requested from the runtime, and the first messages are not data', async () => {
  await using scene = await forwarding();
  const messages = collectMessages(scene.remote);
  scene.local.write('question');
  await until(() => messages.length === 1);
  scene.remote.send(onChannel(0, 'answer'));
  scene.remote.terminate();
  expect(await readAll(scene.local)).toBe('answer');
  expect({requested: scene.requested, messages}).toEqual({
    requested: [[8080]],
    messages: [onChannel(0, 'question')],
  });
  scene.local.end();
  expect(await scene.failure).toBeUndefined();
});

test('a refused connection is reset, with the runtime’s message', async () => {
  await using scene = await forwarding();
  scene.remote.send(onChannel(1, 'connection refused'));
  scene.remote.terminate();
  expect(await scene.failure).toEqual({kind: 'refused', message: 'connection refused'});
  await until(() => scene.local.destroyed);
});

test('after the local side has ended, the connection ends when no more data arrives', async () => {
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

test('a server without SPDY is used over WebSocket with a new URL', async () => {
  await using server = await startFakeWebSocketServer({protocols: [V4]});
  const requested: (readonly number[])[] = [];
  const url = async (ports: readonly number[]): Promise<string> => {
    requested.push(ports);
    return server.url;
  };
  const settings = {signal: new AbortController().signal, clock: systemClock, tls: {}, env: {}};
  const tunnel = await openTunnel(url, {...settings, transport: 'auto'});
  const end = await tunnel.connect(80);
  expect(requested).toEqual([[], [80]]);
  end.close();
  await expect(openTunnel(url, {...settings, transport: 'spdy'})).rejects.toMatchObject({status: 403});
});
