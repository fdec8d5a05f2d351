import {runInBackground} from '../base/async/background-work.js';
import type {Socket} from 'node:net';
import {createServer, type Server, type TlsOptions, type TLSSocket} from 'node:tls';
import type {Clock} from '../base/clock.js';
import type {TrackedConnection} from '../base/net/connection-tracker.js';
import {closeGracefully} from '../base/net/graceful-close.js';
import type {Schedule} from './turn-queue.js';

/** Beginnings of plain HTTP requests (crypto/tls tlsRecordHeaderLooksLikeHTTP). */
const HTTP_METHODS: ReadonlySet<string> = new Set(['GET /', 'HEAD ', 'POST ', 'PUT /', 'OPTIO']);
const RECORD_HEADER_BYTES = 5;
/** Response of net/http to an HTTP request on a port with TLS. */
const PLAIN_HTTP_RESPONSE =
  'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n';

/** Dependencies of {@link TlsHandshakes}. */
export interface TlsHandshakesOptions {
  readonly schedule: Schedule;
  readonly clock: Clock;
}

/** Performs the TLS handshakes of accepted connections, each in its turn: a handshake is costly. */
export class TlsHandshakes {
  readonly #options: TlsHandshakesOptions;
  #server: Server;
  /** Connections whose handshake is in progress, by their addresses. */
  readonly #pending = new Map<string, PendingHandshake>();

  constructor(tls: TlsOptions, options: TlsHandshakesOptions) {
    this.#options = options;
    this.#server = this.#createServer(tls);
  }

  /** Uses other settings for new connections. */
  replace(tls: TlsOptions): void {
    this.#server = this.#createServer(tls);
  }

  /** Creates a server that does not listen. */
  #createServer(tls: TlsOptions): Server {
    return createServer({ALPNProtocols: ['http/1.1'], allowHalfOpen: true, ...tls})
      .on('secureConnection', (socket) => {
        this.#complete(socket);
      })
      .on('tlsClientError', (_error, socket) => {
        socket.destroy();
      });
  }

  /**
   * Starts the handshake when the client has sent data and calls `onSecure` when it is complete. Rejects plain HTTP as
   * net/http does. The caller limits the time.
   */
  start(connection: TrackedConnection, onSecure: () => void): void {
    const {socket} = connection;
    const key = addressesOf(socket);
    this.#pending.set(key, {connection, onSecure});
    socket.once('close', () => this.#pending.delete(key));
    const disconnect = (): void => {
      socket.destroy();
    };
    const receive = (): void => {
      if (socket.readableLength < RECORD_HEADER_BYTES) return;
      socket.off('readable', receive).off('end', disconnect);
      this.#options.schedule(() => {
        if (!socket.destroyed) this.#handshake(socket);
      });
    };
    socket.on('readable', receive).on('end', disconnect);
  }

  #handshake(socket: Socket): void {
    const first = socket.read() as Buffer;
    if (HTTP_METHODS.has(first.toString('latin1', 0, RECORD_HEADER_BYTES))) {
      socket.write(PLAIN_HTTP_RESPONSE);
      runInBackground('TLS server', closeGracefully(socket, this.#options.clock));
      return;
    }
    socket.unshift(first);
    this.#server.emit('connection', socket);
  }

  #complete(secure: TLSSocket): void {
    const key = addressesOf(secure);
    const pending = this.#pending.get(key);
    this.#pending.delete(key);
    if (pending === undefined) {
      secure.destroy();
      return;
    }
    pending.connection.useTls(secure);
    pending.onSecure();
  }
}

interface PendingHandshake {
  readonly connection: TrackedConnection;
  readonly onSecure: () => void;
}

function addressesOf({remoteAddress, remotePort, localAddress, localPort}: Socket): string {
  return [remoteAddress, remotePort, localAddress, localPort].join(' ');
}
