import {runInBackground} from '../base/async/background-work.js';
import {createServer, ServerResponse, type IncomingMessage, type Server} from 'node:http';
import type {Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import type {Clock} from '../base/clock.js';
import type {TrackedConnection} from '../base/net/connection-tracker.js';
import {closeGracefully} from '../base/net/graceful-close.js';
import {RequestGate} from './request-gate.js';
import type {Schedule} from './turn-queue.js';

/** Maximum size of a request's head, in bytes; the URLs of exec contain commands. */
const MAX_HEAD_BYTES = 256 * 1024;
/** Socket inactivity timeout, in ms; equals the kubelet's WriteTimeout. */
const SOCKET_TIMEOUT_MS = 4 * 60 * 60_000;
/** Time for the TLS handshake and for the head of the first request of a connection, in ms. */
export const HEAD_LIMIT_MS = 20_000;
/** Time for the body of a request, in ms. */
export const BODY_LIMIT_MS = 60_000;
/** Time for the head of the next request on a keep-alive connection, in ms; equals the kubelet's IdleTimeout. */
export const IDLE_LIMIT_MS = 90_000;

/** Connection of a request for a protocol upgrade. */
export interface Upgrade {
  readonly socket: Socket;
  readonly head: Buffer;
}

/** Request that is to be responded to. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Connection of the client; a TLSSocket on a port with TLS. */
  readonly socket: Socket;
  /** Signal that aborts when the client disconnects. */
  readonly signal: AbortSignal;
  readonly upgrade?: Upgrade;
}

/** Responds to a request. Must not reject. */
export type RequestHandler = (exchange: Exchange) => Promise<void>;

/** Dependencies of a {@link RequestServer}. */
export interface RequestServerOptions {
  readonly respond: RequestHandler;
  readonly clock: Clock;
  /** Schedules the processing of received data. */
  readonly schedule: Schedule;
}

/**
 * Handles the requests of accepted connections, one at a time per connection, and closes connections whose client does
 * not send a request in time. It does not accept connections itself: Bun's HTTPS server does not expose client
 * certificates. Node.js has time limits too, but Bun does not.
 */
export class RequestServer {
  readonly #options: RequestServerOptions;
  readonly #server: Server;

  constructor(options: RequestServerOptions) {
    this.#options = options;
    this.#server = createServer({maxHeaderSize: MAX_HEAD_BYTES, keepAliveTimeout: 0});
    this.#server
      .on('request', (request, response) => {
        this.#handleRequest(request, response);
      })
      .on('upgrade', (request, socket, head) => {
        this.#handleUpgrade(request, gateOf(socket), head);
      })
      // This is not a proxy. For Expect: 100-continue the default of Node.js is sufficient.
      .on('connect', (_request, socket) => {
        this.#reject(gateOf(socket), '405 Method Not Allowed');
      })
      .on('clientError', (error: NodeJS.ErrnoException, socket) => {
        this.#reject(gateOf(socket), clientErrorStatus(error));
      });
  }

  /** Handles the requests of a connection. Its time limit becomes that of the first request. */
  serve(connection: TrackedConnection): void {
    const {schedule, clock} = this.#options;
    const {socket} = connection;
    socket.setTimeout(SOCKET_TIMEOUT_MS, () => socket.destroy());
    const gate = new RequestGate({connection, schedule, clock});
    connection.setLimit(HEAD_LIMIT_MS, () => {
      this.#reject(gate, '408 Request Timeout');
    });
    this.#server.emit('connection', gate);
  }

  close(): void {
    this.#server.close();
  }

  #handleRequest(request: IncomingMessage, response: ServerResponse): void {
    const gate = gateOf(request.socket);
    const {connection} = gate;
    connection.setLimit(BODY_LIMIT_MS, () => {
      if (!request.complete) gate.destroy();
    });
    gate.startRequest(request, response, () => {
      connection.markBusy();
      const {socket, disconnected: signal} = gate;
      const responded = this.#options.respond({request, response, socket, signal}).then(() => {
        connection.markIdle();
      });
      runInBackground('HTTP server', responded);
    });
    response.once('close', () => {
      if (!gate.isResponding) connection.setLimit(IDLE_LIMIT_MS, () => gate.destroy());
    });
  }

  /** Handles a request for an upgrade. It gets an ordinary response unless the handler accepts the upgrade. */
  #handleUpgrade(request: IncomingMessage, gate: RequestGate, firstBytes: Buffer): void {
    if (gate.isResponding) {
      gate.destroy();
      return;
    }
    const {connection, disconnected: signal} = gate;
    connection.markBusy();
    connection.clearLimit();
    const {socket, unread} = gate.release();
    const head = Buffer.concat([firstBytes, unread]);
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once('finish', () => {
      response.detachSocket(socket);
      runInBackground('HTTP server', closeGracefully(socket, this.#options.clock));
    });
    const responded = this.#options.respond({request, response, socket, signal, upgrade: {socket, head}});
    runInBackground('HTTP server', responded);
  }

  /** Sends an error and closes the connection; only closes it in the middle of another response. */
  #reject(gate: RequestGate, status: string): void {
    if (gate.isResponding || gate.destroyed) {
      gate.destroy();
      return;
    }
    const {socket} = gate.release();
    if (socket.writable) socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
    runInBackground('HTTP server', closeGracefully(socket, this.#options.clock));
  }
}

/** Returns the gate that the HTTP server regards as the socket of a connection. */
function gateOf(socket: Duplex): RequestGate {
  if (socket instanceof RequestGate) return socket;
  throw new TypeError('the connection of a request is not a RequestGate');
}

function clientErrorStatus({code}: NodeJS.ErrnoException): string {
  return code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request';
}
