import {once} from 'node:events';
import {createServer as createHttpServer, ServerResponse, type IncomingMessage, type Server} from 'node:http';
import {createServer, isIP, Socket, type AddressInfo, type Server as Acceptor} from 'node:net';
import type {Duplex} from 'node:stream';
import {createServer as createTlsServer, type TlsOptions} from 'node:tls';
import type {Clock} from '../../base/clock.js';
import {SystemError} from '../../base/errors.js';
import {systemReason} from '../../base/system-reason.js';
import {endPatiently} from './end-patiently.js';
import type {ListenAddress} from './options.js';
import {HEAD_LIMIT_MS, keepRequestLimits} from './request-limits.js';

/** A request's head may be so large: commands stand in the URLs of exec. */
const MAX_HEAD_BYTES = 256 * 1024;
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
  readonly tls?: TlsOptions | undefined;
}

/** Begins to listen. Rejects with SystemError when the address can't be had. */
export async function listen(
  {address, port}: ListenAddress,
  {respond, clock, tls, wayOut}: ListenOptions,
): Promise<Listener> {
  const server = requestServer(respond, clock);
  const acceptor = acceptorOf(tls);
  acceptor.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    server.emit('connection', socket);
  });
  acceptor.maxConnections = MAX_CONNECTIONS;
  const sockets = openSockets(acceptor);
  try {
    acceptor.listen({host: address, port});
    await once(acceptor, 'listening');
  } catch (error) {
    throw new SystemError(`listening on ${hostPort(address, port)}: ${systemReason(error)}`, {
      cause: error,
      hint: wayOut,
    });
  }
  // Later faults are of single connections, such as too many open files: the server goes on.
  acceptor.on('error', () => undefined);
  const bound = acceptor.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${hostPort(address, bound.port)}`,
    close: async () => {
      const closed = once(acceptor, 'close');
      acceptor.close();
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function hostPort(address: string, port: number): string {
  return isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`;
}

/** Takes connections; a client may end its side before it is answered. */
function acceptorOf(tls: TlsOptions | undefined): Acceptor {
  const options = {allowHalfOpen: true, noDelay: true};
  if (tls === undefined) return createServer(options);
  const acceptor = createTlsServer({
    ...{handshakeTimeout: HEAD_LIMIT_MS, ALPNProtocols: ['http/1.1']},
    ...options,
    ...tls,
  });
  return acceptor.on('tlsClientError', (_error, socket) => {
    socket.destroy();
  });
}

/** Answers on the connections that it is given. It takes none itself: Bun's would not show a client's certificate. */
function requestServer(respond: Respond, clock: Clock): Server {
  const server = createHttpServer({maxHeaderSize: MAX_HEAD_BYTES, keepAliveTimeout: 0});
  server.setTimeout(SILENT_MS);
  takeRequests(server, respond, clock);
  return server;
}

/** All connections, also those that speak another protocol by now and of which the server knows no more. */
function openSockets(acceptor: Acceptor): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  acceptor.on('connection', (socket: Socket) => {
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
    socket.on('error', () => undefined); // 'close' tells
    socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
    void endPatiently(socket, clock); // never rejects
  };
  // No proxy is here, and an Expect: 100-continue has nothing to wait for: Node.js' own answers do.
  server.on('connect', (_request, socket) => {
    refuse(socket, '405 Method Not Allowed');
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else refuse(socket, clientErrorStatus(error));
  });
  keepRequestLimits(server, clock, (socket) => {
    refuse(socket, '408 Request Timeout');
  });
}

function clientErrorStatus({code}: NodeJS.ErrnoException): string {
  return code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request';
}
