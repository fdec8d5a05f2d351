import {once} from 'node:events';
import {createServer, isIP, type AddressInfo} from 'node:net';
import type {TlsOptions} from 'node:tls';
import {ConnectionTracker} from '../base/net/connection-tracker.js';
import {hasErrno, SystemError} from '../base/errors.js';
import {findPortOwner} from '../base/host/find-port-owner.js';
import {systemErrorMessage} from '../base/system-error-message.js';
import {escapeControls} from '../format/escape-controls.js';
import {HEAD_LIMIT_MS, RequestServer, type RequestServerOptions} from './request-server.js';
import {TlsHandshakes} from './tls-handshakes.js';

/** Default maximum number of connections of a listener. */
export const MAX_CONNECTIONS = 1000;

/** IP address and port to listen on; port 0 selects any free port. */
export interface ListenAddress {
  readonly address: string;
  readonly port: number;
}

/** Listening server. */
export interface Listener {
  readonly url: string;
  /** Uses other TLS settings for new connections. */
  replaceTls(tls: TlsOptions): void;
  /** Closes the present connections when they are idle, so that clients authenticate again. */
  retireConnections(): void;
  /** Stops listening and destroys all connections. */
  close(): Promise<void>;
}

/** Options of {@link listen}. */
export interface ListenOptions extends RequestServerOptions {
  /** Hint of the error when the address is unavailable. */
  readonly hint: string;
  /** TLS settings; undefined for plain HTTP. */
  readonly tls?: TlsOptions | undefined;
  /** Maximum number of connections; default MAX_CONNECTIONS. */
  readonly maxConnections?: number;
}

/** Starts listening. Rejects with SystemError if the address is unavailable. */
export async function listen({address, port}: ListenAddress, options: ListenOptions): Promise<Listener> {
  const {clock, tls, hint, schedule, maxConnections = MAX_CONNECTIONS} = options;
  const server = new RequestServer(options);
  const tracker = new ConnectionTracker(maxConnections, clock);
  const handshakes = tls && new TlsHandshakes(tls, {schedule, clock});
  // Clients may half-close before the response is sent.
  const acceptor = createServer({allowHalfOpen: true, noDelay: true}, (socket) => {
    const connection = tracker.add(socket);
    if (connection === undefined) return;
    if (handshakes === undefined) {
      server.serve(connection);
      return;
    }
    connection.setLimit(HEAD_LIMIT_MS, () => socket.destroy());
    handshakes.start(connection, () => {
      server.serve(connection);
    });
  });
  try {
    acceptor.listen({host: address, port});
    await once(acceptor, 'listening');
  } catch (error) {
    const owner = hasErrno(error, 'EADDRINUSE') ? await findPortOwner(port) : undefined;
    const who = owner === undefined ? '' : ` by ${escapeControls(owner.name)} (PID ${owner.pid})`;
    throw new SystemError(`cannot listen on ${hostPort(address, port)}: ${systemErrorMessage(error)}${who}`, {
      cause: error,
      hint,
    });
  }
  // Later errors concern single connections, such as too many open files. The server continues.
  acceptor.on('error', () => undefined);
  const bound = acceptor.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${hostPort(address, bound.port)}`,
    replaceTls: (replacement) => {
      handshakes?.replace(replacement);
    },
    retireConnections: () => {
      tracker.retireAll();
    },
    close: async () => {
      const closed = once(acceptor, 'close');
      acceptor.close();
      server.close();
      tracker.destroyAll();
      await closed;
    },
  };
}

function hostPort(address: string, port: number): string {
  return isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`;
}
