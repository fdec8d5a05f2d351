import {connect, isIP, type Socket} from 'node:net';
import {connect as connectTls, type SecureContext, type TLSSocket} from 'node:tls';
import {startTimer} from '../../base/async/timer.js';
import {messageOf, SystemError} from '../../base/errors.js';

/** Host and port, such as those of the API server. */
export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** TLS settings of one connection. */
export interface TlsOptions {
  readonly host: string;
  /** Name in the server's certificate, if it is not the host. */
  readonly servername?: string | undefined;
  readonly rejectUnauthorized: boolean;
  readonly context: SecureContext;
  readonly protocols: readonly string[];
}

/** Time limit for a connection, in ms. */
const CONNECT_MS = 30_000;
/** Idle time after which the kernel probes a connection, in ms; it gives up 10 s later. */
const KEEP_ALIVE_PROBE_MS = 10_000;

/** Returns host and port of a URL, without the brackets of an IPv6 address. */
export function hostPortOf({protocol, hostname, port}: URL): HostPort {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return {host, port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)};
}

/** Opens a TCP connection. Rejects with the system error, and after 30 s. */
export async function openTcp({host, port}: HostPort): Promise<Socket> {
  const socket = connect({
    host,
    port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
  });
  return await whenReady(socket, 'connect');
}

/**
 * Encrypts a connection to the host and resolves when the certificate of the server is verified. Rejects with the error of
 * the handshake, and after 30 s.
 */
export async function openTls(
  socket: Socket,
  {host, servername, rejectUnauthorized, context, protocols}: TlsOptions,
): Promise<TLSSocket> {
  const secured = connectTls({
    ...{socket, host, rejectUnauthorized, secureContext: context, ALPNProtocols: [...protocols]},
    // A server name must not be an IP address.
    servername: servername ?? (isIP(host) === 0 ? host : ''),
  });
  try {
    return await whenReady(secured, 'secureConnect');
  } catch (error) {
    if (!isUntrusted(secured)) throw error;
    // The messages of OpenSSL do not say whose certificate it is.
    throw new SystemError(`failed to verify the certificate of "${host}": ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Reports whether the server's certificate was rejected; the types of Node.js do not know that this may be unset. */
function isUntrusted({authorizationError}: {readonly authorizationError?: Error | null}): boolean {
  return authorizationError !== null && authorizationError !== undefined;
}

/** Resolves with a socket after its event; ends it and rejects if it has an error before, or none of both within 30 s. */
async function whenReady<S extends Socket>(socket: S, event: string): Promise<S> {
  return await new Promise<S>((resolve, reject) => {
    const settle = (): void => {
      cancelTimer();
      socket.off('close', close).off(event, open);
    };
    const fail = (error: Error): void => {
      settle();
      socket.destroy();
      reject(error);
    };
    const close = (): void => {
      fail(new SystemError('the connection was closed while it was opened'));
    };
    const open = (): void => {
      settle();
      resolve(socket);
    };
    const cancelTimer = startTimer(CONNECT_MS, () => {
      fail(new SystemError(`no connection within ${CONNECT_MS / 1000} s`));
    });
    // The listener stays: later errors reach the requests on the connection.
    socket.on('error', fail).on('close', close).on(event, open);
  });
}
