import {once} from 'node:events';
import {createServer as createHttpServer, ServerResponse, type IncomingMessage, type Server} from 'node:http';
import {createServer, isIP, Socket, type AddressInfo, type Server as Acceptor} from 'node:net';
import type {Duplex} from 'node:stream';
import {createServer as createTlsServer, type TlsOptions} from 'node:tls';
import type {Clock} from '../../../base/clock.js';
import {SystemError} from '../../../base/errors.js';
import {systemErrorMessage} from '../../../base/system-error-message.js';
import {closeGracefully} from './graceful-close.js';
import type {ListenAddress} from './http-server-options.js';
import {HEAD_LIMIT_MS, enforceRequestLimits} from './request-limits.js';

/** Maximum size of a request's head, in bytes; the URLs of exec contain commands. */
const MAX_HEAD_BYTES = 256 * 1024;
/** Socket inactivity timeout, in ms; equals the kubelet's WriteTimeout. */
const SOCKET_TIMEOUT_MS = 4 * 60 * 60_000;
const MAX_CONNECTIONS = 1000;

/** Connection of a request for a protocol upgrade. */
export interface Upgrade {
  readonly socket: Socket;
  readonly head: Buffer;
}

/** Responds to a request. Must not reject. */
export type RequestHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  upgrade?: Upgrade,
) => Promise<void>;

/** Listening server. */
export interface Listener {
  readonly url: string;
  /** Stops listening and destroys all connections. */
  close(): Promise<void>;
}

/** Options of {@link listen}. */
export interface ListenOptions {
  /** Hint of the error when the address is unavailable. */
  readonly hint: string;
  readonly respond: RequestHandler;
  readonly clock: Clock;
  /** TLS settings; undefined for plain HTTP. */
  readonly tls?: TlsOptions | undefined;
}

/** Starts listening. Rejects with SystemError if the address is unavailable. */
export async function listen(
  {address, port}: ListenAddress,
  {respond, clock, tls, hint}: ListenOptions,
): Promise<Listener> {
  const server = createRequestServer(respond, clock);
  const acceptor = createAcceptor(tls);
  acceptor.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    server.emit('connection', socket);
  });
  acceptor.maxConnections = MAX_CONNECTIONS;
  const sockets = trackSockets(acceptor);
  try {
    acceptor.listen({host: address, port});
    await once(acceptor, 'listening');
  } catch (error) {
    throw new SystemError(`cannot listen on ${hostPort(address, port)}: ${systemErrorMessage(error)}`, {
      cause: error,
      hint,
    });
  }
  // Later errors concern single connections, such as too many open files. The server continues.
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

/** Creates the server that accepts connections. Clients may half-close before the response is sent. */
function createAcceptor(tls: TlsOptions | undefined): Acceptor {
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

/**
 * Creates the server that handles requests on accepted connections. It does not accept connections itself: Bun's HTTPS
 * server does not expose client certificates.
 */
function createRequestServer(respond: RequestHandler, clock: Clock): Server {
  const server = createHttpServer({maxHeaderSize: MAX_HEAD_BYTES, keepAliveTimeout: 0});
  server.setTimeout(SOCKET_TIMEOUT_MS);
  handleRequests(server, respond, clock);
  return server;
}

/** Tracks all open connections, including upgraded ones, which the HTTP server no longer tracks. */
function trackSockets(acceptor: Acceptor): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  acceptor.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}

function handleRequests(server: Server, respond: RequestHandler, clock: Clock): void {
  server.on('request', (request, response) => {
    void respond(request, response); // never rejects
  });
  // A request for an upgrade gets an ordinary response, unless the handler accepts the upgrade.
  server.on('upgrade', (request, socket, head) => {
    if (!(socket instanceof Socket)) throw new TypeError('the connection of a request is not a net.Socket');
    socket.on('error', () => undefined); // 'close' follows
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once('finish', () => {
      response.detachSocket(socket);
      void closeGracefully(socket, clock); // never rejects
    });
    void respond(request, response, {socket, head}); // never rejects
  });
  const reject = (socket: Duplex, status: string): void => {
    socket.on('error', () => undefined); // 'close' follows
    socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
    void closeGracefully(socket, clock); // never rejects
  };
  // This is not a proxy. For Expect: 100-continue the default of Node.js is sufficient.
  server.on('connect', (_request, socket) => {
    reject(socket, '405 Method Not Allowed');
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else reject(socket, clientErrorStatus(error));
  });
  enforceRequestLimits(server, clock, (socket) => {
    reject(socket, '408 Request Timeout');
  });
}

function clientErrorStatus({code}: NodeJS.ErrnoException): string {
  return code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request';
}
