import {once} from 'node:events';
import {createServer as createHttpServer, type IncomingMessage} from 'node:http';
import {createServer, Socket, type AddressInfo, type Server} from 'node:net';
import {describe, expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import type {KubeletRequest} from '../../../src/kubelet/server/answer.js';
import {acceptWebSocket} from '../../../src/kubelet/server/streams/accept-websocket.js';
import {translateV5, TUNNEL, tunnel, V5_CHANNELS} from '../../../src/kubelet/server/streams/carriers.js';
import {dial} from '../../e2e/harness/spdy-client.js';
import {openWebSocket} from '../../e2e/harness/websocket-client.js';

const OPTIONS = {clock: systemClock, streamingIdleTimeoutMs: 0};
const STREAMS = {stdin: false, stdout: true, stderr: false, tty: false};

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A runtime's streaming server that agrees to everything. */
async function aBackend(): Promise<{readonly url: string; readonly taken: () => Socket}> {
  let taken: Socket | undefined;
  const url = await listening(
    createServer((socket) => {
      taken = socket;
      socket
        .on('error', () => undefined)
        .once('data', () => {
          const protocol = 'X-Stream-Protocol-Version: v4.channel.k8s.io\r\n';
          socket.write(
            `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n${protocol}\r\n`,
          );
        });
    }),
  );
  const accepted = (): Socket => {
    if (taken === undefined) throw new Error('nobody has connected');
    return taken;
  };
  return {url, taken: accepted};
}

interface Asked {
  readonly request: KubeletRequest;
  readonly socket: Socket;
  readonly head: Buffer;
}

/** A server that hands over requests for another protocol. */
async function aServer(take: (asked: Asked) => Promise<void>): Promise<string> {
  const server = createHttpServer();
  server.on('upgrade', (raw: IncomingMessage, socket, head) => {
    const {signal} = new AbortController();
    socket.on('error', () => undefined);
    const request = {raw, method: 'GET', signal} as KubeletRequest;
    if (socket instanceof Socket) void take({request, socket, head});
  });
  return await listening(server);
}

/** A client that has asked for a WebSocket in that protocol, and what the server has got of it. */
async function aClient(protocol: string): Promise<{readonly client: Socket; readonly asked: Asked}> {
  let tell: (asked: Asked) => void = () => undefined;
  const asked = new Promise<Asked>((resolve) => (tell = resolve));
  const url = await aServer(async (got) => {
    tell(got);
    return Promise.resolve();
  });
  const client = await dial(url);
  client.on('error', () => undefined).resume();
  client.write(
    `GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
      `Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`,
  );
  return {client, asked: await asked};
}

async function lost(socket: Socket): Promise<void> {
  const closed = once(socket, 'close');
  socket.resetAndDestroy();
  await closed;
  // The other side is told.
  await systemClock.sleep(50);
}

describe('a client that has gone before it is answered', () => {
  test('gets no WebSocket', async () => {
    const {client, asked} = await aClient(V5_CHANNELS);
    const closed = once(asked.socket, 'close');
    client.destroy();
    asked.socket.destroy();
    await closed;
    expect(await acceptWebSocket(asked.request.raw, asked, V5_CHANNELS)).toBeUndefined();
  });

  test("leaves no connection to the runtime's server", async () => {
    const {url, taken} = await aBackend();
    const {client, asked} = await aClient(TUNNEL);
    const answer = await tunnel(url, asked.request, OPTIONS);
    const [closed, ended] = [once(asked.socket, 'close'), once(taken(), 'close')];
    client.destroy();
    asked.socket.destroy();
    await closed;
    await answer.take(asked.socket, asked.head);
    await ended;
  });
});

describe('a runtime that is lost before the client is answered', () => {
  test('ends a tunnel', async () => {
    const {url, taken} = await aBackend();
    const {client, asked} = await aClient(TUNNEL);
    const answer = await tunnel(url, asked.request, OPTIONS);
    await lost(taken());
    const closed = once(client, 'close');
    const taking = answer.take(asked.socket, asked.head);
    client.once('data', () => client.destroy());
    await Promise.all([closed, taking]);
  });

  test('is told to the client of a session', async () => {
    const {url, taken} = await aBackend();
    const server = await aServer(async ({request, socket, head}) => {
      const answer = await translateV5(STREAMS)(url, request, OPTIONS);
      await lost(taken());
      await answer.take(socket, head);
    });
    const {closed, text} = await openWebSocket(server, V5_CHANNELS);
    expect(await closed).toBe(1000);
    expect(JSON.parse(text(3))).toMatchObject({
      status: 'Failure',
      message: expect.stringContaining('the connection to the runtime') as string,
    });
  });
});
