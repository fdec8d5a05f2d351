import {once} from 'node:events';
import {createServer as createHttpServer, type IncomingMessage} from 'node:http';
import {createServer, Socket, type Server} from 'node:net';
import {describe, expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../../../src/base/clock.js';
import type {KubeletRequest} from '../../../../src/kubelet/server/kubelet-response.js';
import {acceptWebSocket} from '../../../../src/http-server/accept-websocket.js';
import {
  createTranslatingProxy,
  TUNNEL_PROTOCOL,
  tunnelingProxy,
  V5_CHANNEL_PROTOCOL,
} from '../../../../src/kubelet/server/streams/stream-proxies.js';
import {listenOnLoopback} from '../../../base/listen-on-loopback.js';
import {dial} from '../../../e2e/harness/spdy-client.js';
import {openChannelClient} from '../../../e2e/harness/channel-client.js';

const OPTIONS = {clock: systemClock, streamingIdleTimeoutMs: 0};
const STREAMS = {stdin: false, stdout: true, stderr: false, tty: false};

async function startListening(server: Server): Promise<string> {
  const port = await listenOnLoopback(server);
  onTestFinished(() => {
    server.close();
  });
  return `http://127.0.0.1:${port}`;
}

/** Starts a streaming server of a runtime that accepts every upgrade. */
async function startBackend(): Promise<{readonly url: string; readonly connection: () => Socket}> {
  let accepted: Socket | undefined;
  const url = await startListening(
    createServer((socket) => {
      accepted = socket;
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
  const connection = (): Socket => {
    if (accepted === undefined) throw new Error('no connection yet');
    return accepted;
  };
  return {url, connection};
}

interface UpgradeRequest {
  readonly request: KubeletRequest;
  readonly socket: Socket;
  readonly head: Buffer;
}

/** Starts a server that passes upgrade requests to the handler. */
async function startUpgradeServer(handle: (upgrade: UpgradeRequest) => Promise<void>): Promise<string> {
  const server = createHttpServer();
  server.on('upgrade', (raw: IncomingMessage, socket, head) => {
    const {signal} = new AbortController();
    socket.on('error', () => undefined);
    const request = {raw, method: 'GET', signal} as KubeletRequest;
    if (socket instanceof Socket) void handle({request, socket, head});
  });
  return await startListening(server);
}

/** Connects a client that requests a WebSocket with the subprotocol; returns it and the request at the server. */
async function connectClient(
  protocol: string,
): Promise<{readonly client: Socket; readonly upgrade: UpgradeRequest}> {
  let resolveUpgrade: (upgrade: UpgradeRequest) => void = () => undefined;
  const upgrade = new Promise<UpgradeRequest>((resolve) => (resolveUpgrade = resolve));
  const url = await startUpgradeServer(async (received) => {
    resolveUpgrade(received);
    return Promise.resolve();
  });
  const client = await dial(url);
  client.on('error', () => undefined).resume();
  client.write(
    `GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
      `Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`,
  );
  return {client, upgrade: await upgrade};
}

async function reset(socket: Socket): Promise<void> {
  const closed = once(socket, 'close');
  socket.resetAndDestroy();
  await closed;
  // The peer needs time to receive the reset.
  await systemClock.sleep(50);
}

describe('a client that disconnects before the response', () => {
  test('gets no WebSocket', async () => {
    const {client, upgrade} = await connectClient(V5_CHANNEL_PROTOCOL);
    const closed = once(upgrade.socket, 'close');
    client.destroy();
    upgrade.socket.destroy();
    await closed;
    expect(await acceptWebSocket(upgrade.request.raw, upgrade, V5_CHANNEL_PROTOCOL)).toBeUndefined();
  });

  test("leaves no connection to the runtime's server", async () => {
    const {url, connection} = await startBackend();
    const {client, upgrade} = await connectClient(TUNNEL_PROTOCOL);
    const response = await tunnelingProxy(url, upgrade.request, OPTIONS);
    const [clientClosed, backendClosed] = [once(upgrade.socket, 'close'), once(connection(), 'close')];
    client.destroy();
    upgrade.socket.destroy();
    await clientClosed;
    await response.serve(upgrade.socket, upgrade.head);
    await backendClosed;
  });
});

describe('a runtime that disconnects before the response', () => {
  test('closes a tunnel', async () => {
    const {url, connection} = await startBackend();
    const {client, upgrade} = await connectClient(TUNNEL_PROTOCOL);
    const response = await tunnelingProxy(url, upgrade.request, OPTIONS);
    await reset(connection());
    const closed = once(client, 'close');
    const served = response.serve(upgrade.socket, upgrade.head);
    client.once('data', () => client.destroy());
    await Promise.all([closed, served]);
  });

  test('is reported to the client of a session', async () => {
    const {url, connection} = await startBackend();
    const server = await startUpgradeServer(async ({request, socket, head}) => {
      const response = await createTranslatingProxy(STREAMS)(url, request, OPTIONS);
      await reset(connection());
      await response.serve(socket, head);
    });
    const {closed, text} = await openChannelClient(server, V5_CHANNEL_PROTOCOL);
    expect(await closed).toBe(1000);
    expect(JSON.parse(text(3))).toMatchObject({
      status: 'Failure',
      message: expect.stringContaining('the connection to the runtime') as string,
    });
  });
});
