import {once} from 'node:events';
import {createServer, ServerResponse, type IncomingMessage, type Server} from 'node:http';
import {createServer as createTlsServer, type ServerOptions as TlsServerOptions} from 'node:https';
import {isIP, Socket, type AddressInfo} from 'node:net';
import type {Duplex} from 'node:stream';
import type {Clock} from '../../base/clock.js';
import {SystemError} from '../../base/errors.js';
import {systemReason} from '../../base/files.js';
import {endPatiently} from './end-patiently.js';
import type {ListenAddress} from './options.js';

/** A request's head may be so large: commands stand in the URLs of exec. */
const MAX_HEAD_BYTES = 256 * 1024;
/** Who takes longer for a request's head, or for all of it, is not waited for. */
const HEAD_LIMIT_MS = 20_000;
const REQUEST_LIMIT_MS = 60_000;
/** How long a connection without a request is kept, as the kubelet does. */
const IDLE_MS = 90_000;
/** How long nothing may pass while a request is answered: the kubelet's limit for writing an answer. */
const SILENT_MS = 4 * 60 * 60_000;
const MAX_CONNECTIONS = 1000;

/** A request that wants the connection to speak another protocol. */
export interface Upgrade {
  readonly socket: Socket;
  readonly head: Buffer;
}

/** Answers a request. Must not reject. */
export type Respond = (
  request: IncomingMessage,
  response: ServerResponse,
  upgrade?: Upgrade,
) => Promise<void>;

/** A server that listens. */
export interface Listener {
  readonly url: string;
  /** Takes no more connections, and cuts off those that there are. */
  close(): Promise<void>;
}

/** What a server works with. */
export interface ListenOptions {
  /** What to do when the address can't be had. */
  readonly wayOut: string;
  readonly respond: Respond;
  readonly clock: Clock;
  /** Plain HTTP without. */
  readonly tls?: TlsServerOptions | undefined;
}

/** Begins to listen. Rejects with SystemError when the address can't be had. */
export async function listen(
  {address, port}: ListenAddress,
  {respond, clock, tls, wayOut}: ListenOptions,
): Promise<Listener> {
  const limits = {
    maxHeaderSize: MAX_HEAD_BYTES,
    headersTimeout: HEAD_LIMIT_MS,
    requestTimeout: REQUEST_LIMIT_MS,
    keepAliveTimeout: IDLE_MS,
  };
  const server =
    tls === undefined
      ? createServer(limits)
      : // As without TLS: a client may end its side before it is answered.
        createTlsServer({handshakeTimeout: HEAD_LIMIT_MS, allowHalfOpen: true, ...limits, ...tls});
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(SILENT_MS);
  const sockets = openSockets(server);
  takeRequests(server, respond, clock);
  try {
    server.listen({host: address, port});
    await once(server, 'listening');
  } catch (error) {
    throw new SystemError(`listening on ${hostPort(address, port)}: ${systemReason(error)}`, {
      cause: error,
      hint: wayOut,
    });
  }
  // Later faults are of single connections, such as too many open files: the server goes on.
  server.on('error', () => undefined);
  const bound = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${hostPort(address, bound.port)}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function hostPort(address: string, port: number): string {
  return isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`;
}

/** All connections, also those that speak another protocol by now and of which the server knows no more. */
function openSockets(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}

function takeRequests(server: Server, respond: Respond, clock: Clock): void {
  server.on('request', (request, response) => {
    void respond(request, response); // never rejects
  });
  // Who asks for another protocol is answered as everybody else, unless the answer is to speak it.
  server.on('upgrade', (request, socket, head) => {
    if (!(socket instanceof Socket)) throw new TypeError('a server was given a connection that is no socket');
    socket.on('error', () => undefined); // 'close' tells
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once('finish', () => {
      response.detachSocket(socket);
      void endPatiently(socket, clock); // never rejects
    });
    void respond(request, response, {socket, head}); // never rejects
  });
  const refuse = (socket: Duplex, status: string): void => {
    socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
    void endPatiently(socket, clock); // never rejects
  };
  // No proxy is here, and an Expect: 100-continue has nothing to wait for: Node.js' own answers do.
  server.on('connect', (_request, socket) => {
    socket.on('error', () => undefined);
    refuse(socket, '405 Method Not Allowed');
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else refuse(socket, clientErrorStatus(error));
  });
}

function clientErrorStatus({code}: NodeJS.ErrnoException): string {
  if (code === 'HPE_HEADER_OVERFLOW') return '431 Request Header Fields Too Large';
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? '408 Request Timeout' : '400 Bad Request';
}
