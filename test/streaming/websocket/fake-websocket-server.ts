import {once} from 'node:events';
import {createServer, type IncomingMessage} from 'node:http';
import type {Socket} from 'node:net';
import {WebSocketServer, type WebSocket} from 'ws';
import {listenOnLoopback} from '../../base/listen-on-loopback.js';

/** A WebSocket streaming server controlled by a test. */
export interface FakeWebSocketServer extends AsyncDisposable {
  /** URL as returned by the runtime. */
  readonly url: string;
  /** Subprotocols offered by clients. */
  readonly offers: readonly string[];
  /** Resolves with the next opened connection. */
  readonly opened: () => Promise<WebSocket>;
}

/** Options of the server. */
export interface FakeWebSocketServerOptions {
  /** Supported subprotocols; clients that offer none of them are refused. */
  readonly protocols: readonly string[];
  /** Called synchronously when a connection is accepted. */
  readonly onOpen?: (socket: WebSocket, transport: Socket) => void;
}

/** Starts a server. */
export async function startFakeWebSocketServer({
  protocols,
  onOpen,
}: FakeWebSocketServerOptions): Promise<FakeWebSocketServer> {
  const http = createServer();
  const server = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => protocols.find((protocol) => offered.has(protocol)) ?? false,
  });
  const offers: string[] = [];
  const sockets: WebSocket[] = [];
  const waiting: ((socket: WebSocket) => void)[] = [];
  http.on('upgrade', (request: IncomingMessage, transport: Socket, head: Buffer) => {
    const offered = request.headers['sec-websocket-protocol'] ?? '';
    offers.push(offered);
    if (!protocols.some((protocol) => offered.split(',').includes(protocol))) {
      transport.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    server.handleUpgrade(request, transport, head, (socket) => {
      onOpen?.(socket, transport);
      const take = waiting.shift();
      if (take === undefined) sockets.push(socket);
      else take(socket);
    });
  });
  const port = await listenOnLoopback(http);
  return {
    url: `http://127.0.0.1:${port}/exec/token`,
    offers,
    opened: async () => sockets.shift() ?? (await new Promise((resolve) => waiting.push(resolve))),
    [Symbol.asyncDispose]: async () => {
      for (const client of server.clients) client.terminate();
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
}

/** Returns a message on a channel. */
export function onChannel(channel: number, data: string | Buffer): Buffer {
  return Buffer.concat([Buffer.of(channel), Buffer.from(data)]);
}

/** Returns the list of received messages, which grows until the connection ends. */
export function collectMessages(socket: WebSocket): Buffer[] {
  const messages: Buffer[] = [];
  socket.on('message', (data) => messages.push(data as Buffer));
  return messages;
}
