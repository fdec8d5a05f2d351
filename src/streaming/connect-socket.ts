import {once} from 'node:events';
import {readFile} from 'node:fs/promises';
import {request, type ClientRequest} from 'node:http';
import {isIP, type Socket} from 'node:net';
import type {ConnectionOptions} from 'node:tls';
import {messageOf} from '../base/errors.js';
import {timeLimit} from '../base/time-limit.js';
import {authority, type StreamingAddress} from './address.js';
import {StreamingError} from './errors.js';
import {PatientSocket} from './patient-socket.js';
import {proxyFor} from './proxy.js';
import type {DialOptions, TlsOptions} from './session.js';

/** A streaming server is on this machine or near it. */
const DIAL_LIMIT_MS = 30_000;

/**
 * A connected socket to a streaming server, through a proxy and TLS where they are called for. Its events are
 * not listened to yet. Rejects with StreamingError, or with the signal's reason. `make` makes the socket where
 * nothing stands between.
 */
export async function connectSocket(
  address: StreamingAddress,
  options: DialOptions,
  make: () => Socket = () => new PatientSocket(),
): Promise<Socket> {
  using limit = timeLimit(
    options.clock,
    DIAL_LIMIT_MS,
    () => new StreamingError(`connecting to ${authority(address)}: no answer`),
  );
  const signal = AbortSignal.any([options.signal, limit.signal]);
  try {
    return await dial(address, {...options, signal}, make);
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof StreamingError
      ? error
      : new StreamingError(`connecting to ${authority(address)}: ${messageOf(error)}`, {cause: error});
  }
}

async function dial(address: StreamingAddress, options: DialOptions, make: () => Socket): Promise<Socket> {
  const proxy = proxyFor(address, options.env);
  const settings = address.secure ? await tlsSettings(address.host, options.tls) : undefined;
  const socket =
    proxy === undefined
      ? await connected(settings === undefined ? make() : new PatientSocket(), address, options.signal)
      : await tunnel(address, proxy, options.signal);
  return settings === undefined ? socket : await secured(socket, address, settings, options.signal);
}

async function connected(
  socket: Socket,
  {host, port}: StreamingAddress,
  signal: AbortSignal,
): Promise<Socket> {
  socket.connect({host, port, noDelay: true});
  return await untilEvent(socket, 'connect', signal);
}

/** Waits for a socket's event; the socket is gone when anything else comes first. */
async function untilEvent<S extends Socket>(socket: S, event: string, signal: AbortSignal): Promise<S> {
  try {
    await once(socket, event, {signal});
    return socket;
  } catch (error) {
    socket.on('error', () => undefined).destroy();
    throw error;
  }
}

/** A connection through an HTTP proxy (CONNECT). */
async function tunnel(address: StreamingAddress, proxy: URL, signal: AbortSignal): Promise<Socket> {
  const target = authority(address);
  const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const asked = request({
    host: proxy.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: proxy.port === '' ? 80 : proxy.port,
    method: 'CONNECT',
    path: target,
    headers: {
      host: target,
      ...(login === ':' ? {} : {'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}`}),
    },
    agent: false,
  });
  const opened = new Promise<Socket>((resolve, reject) => {
    asked.once('error', (error) => {
      reject(new StreamingError(`connecting to the proxy ${proxy.host}: ${error.message}`, {cause: error}));
    });
    asked.once('connect', ({statusCode = 0}, socket: Socket, head: Buffer) => {
      if (statusCode === 200) {
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
        return;
      }
      socket.destroy();
      reject(new StreamingError(`the proxy ${proxy.host} refused a connection to ${target}: ${statusCode}`));
    });
    asked.end();
  });
  return await cancellable(opened, asked, signal);
}

/**
 * What comes of a request. The signal ends it only until then: later the socket has another owner, which the
 * signal that Node.js' requests take by themselves would not know.
 */
export async function cancellable<T>(
  opened: Promise<T>,
  asked: ClientRequest,
  signal: AbortSignal,
): Promise<T> {
  const cancel = (): void => void asked.destroy(signal.reason as Error);
  signal.addEventListener('abort', cancel, {once: true});
  try {
    if (signal.aborted) cancel();
    return await opened;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

async function secured(
  socket: Socket,
  address: StreamingAddress,
  settings: ConnectionOptions,
  signal: AbortSignal,
): Promise<Socket> {
  try {
    const tls = await import('node:tls');
    return await untilEvent(tls.connect({...settings, socket}), 'secureConnect', signal);
  } catch (error) {
    socket.destroy();
    throw new StreamingError(`TLS with ${authority(address)}: ${tlsFault(error)}`, {
      cause: error,
      hint: "name the server's certificate authority with --tls-ca and its name with --tls-server-name",
    });
  }
}

/** What OpenSSL 3 says of a certificate: it has other words than those before it and than BoringSSL, which Bun has. */
const CERTIFICATE_FAULTS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'self-signed certificate',
  SELF_SIGNED_CERT_IN_CHAIN: 'self-signed certificate in certificate chain',
};

function tlsFault(error: unknown): string {
  const known =
    error instanceof Error && 'code' in error ? CERTIFICATE_FAULTS[String(error.code)] : undefined;
  return known ?? messageOf(error);
}

async function tlsSettings(host: string, tls: TlsOptions): Promise<ConnectionOptions> {
  const [ca, cert, key] = await Promise.all([tls.ca, tls.cert, tls.key].map(pem));
  const name = tls.serverName ?? host;
  return {
    host: name,
    // An address is checked against the certificate too, but must not be sent as a name.
    ...(isIP(name) === 0 ? {servername: name} : {}),
    rejectUnauthorized: tls.insecure !== true,
    ...(ca === undefined ? {} : {ca}),
    ...(cert === undefined ? {} : {cert}),
    ...(key === undefined ? {} : {key}),
  };
}

async function pem(path: string | undefined): Promise<Buffer | undefined> {
  if (path === undefined) return undefined;
  try {
    return await readFile(path);
  } catch (error) {
    throw new StreamingError(`reading "${path}": ${messageOf(error)}`, {cause: error});
  }
}
