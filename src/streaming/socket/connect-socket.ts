import {once} from 'node:events';
import {isIP, type Socket, type SocketConnectOpts} from 'node:net';
import type {ConnectionOptions} from 'node:tls';
import {anySignal} from '../../base/async/any-signal.js';
import {messageOf} from '../../base/errors.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import {createDeadline} from '../../base/async/deadline.js';
import {readBoundedFile} from '../../base/fs/read-bounded-file.js';
import {joinHostPort} from '../../base/net/join-host-port.js';
import type {StreamingAddress} from '../session/streaming-address.js';
import {StreamingError} from '../session/errors.js';
import {WriteTolerantSocket} from './write-tolerant-socket.js';
import {exchangeHeads} from './http-exchange.js';
import {describeTlsFailure} from './tls-errors.js';
import type {DialOptions, TlsOptions} from '../session/session.js';
import {findProxyVariable} from '../../base/net/proxy-variable.js';

/** Connect timeout, in ms. Streaming servers are on this machine or close to it. */
const DIAL_TIMEOUT_MS = 30_000;

/**
 * Connects a socket to a streaming server, through a proxy and TLS if required. Attaches no listeners. `createSocket`
 * creates the socket for a direct connection. Rejects with StreamingError, or with the signal's reason.
 */
export async function connectSocket(
  address: StreamingAddress,
  options: DialOptions,
  createSocket: () => Socket = () => new WriteTolerantSocket(),
): Promise<Socket> {
  using limit = createDeadline(
    options.clock,
    DIAL_TIMEOUT_MS,
    () => new StreamingError(`cannot connect to ${joinHostPort(address)}: no response`),
  );
  using either = anySignal(options.signal, limit.signal);
  const {signal} = either;
  try {
    return await dial(address, {...options, signal}, createSocket);
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof StreamingError
      ? error
      : new StreamingError(`cannot connect to ${joinHostPort(address)}: ${messageOf(error)}`, {
          cause: error,
        });
  }
}

async function dial(
  address: StreamingAddress,
  options: DialOptions,
  createSocket: () => Socket,
): Promise<Socket> {
  const forwarded = await options.forward?.(address);
  const proxy = forwarded === undefined ? proxyFromEnvironment(address, options.env) : undefined;
  // As in client-go, a missing file is an error even without TLS.
  const files = await readTlsFiles(options.tls);
  const settings = address.secure ? tlsSettings(address.host, options.tls, files) : undefined;
  const socket =
    proxy === undefined
      ? await connectDirectly(
          settings === undefined ? createSocket() : new WriteTolerantSocket(),
          forwarded === undefined
            ? {host: address.host, port: address.port, noDelay: true}
            : {path: forwarded},
          options.signal,
        )
      : await tunnel(address, proxy, options.signal);
  return settings === undefined ? socket : await connectTls(socket, address, settings, options);
}

async function connectDirectly(
  socket: Socket,
  target: SocketConnectOpts,
  signal: AbortSignal,
): Promise<Socket> {
  socket.connect(target);
  return await untilEvent(socket, 'connect', signal);
}

/** Waits for an event of a socket. Destroys the socket if it fails first. */
async function untilEvent<S extends Socket>(socket: S, event: string, signal: AbortSignal): Promise<S> {
  try {
    await once(socket, event, {signal});
    return socket;
  } catch (error) {
    socket.on('error', () => undefined).destroy();
    throw error;
  }
}

/** Connects through an HTTP proxy (CONNECT). */
async function tunnel(address: StreamingAddress, proxy: URL, signal: AbortSignal): Promise<Socket> {
  const target = joinHostPort(address);
  const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const authorization = `Basic ${Buffer.from(login).toString('base64')}`;
  const headers = {Host: target, ...(login !== ':' && {'Proxy-Authorization': authorization})};
  const socket = new WriteTolerantSocket();
  try {
    const host = proxy.hostname.replace(/^\[(.*)\]$/, '$1');
    await connectDirectly(socket, {host, port: proxy.port === '' ? 80 : Number(proxy.port)}, signal);
    const {status} = await exchangeHeads(socket, {method: 'CONNECT', target, headers}, signal);
    if (status === 200) return socket;
    throw new StreamingError(`proxy ${proxy.host} refused the connection to ${target}: ${status}`);
  } catch (error) {
    socket.on('error', () => undefined).destroy();
    signal.throwIfAborted();
    throw error instanceof StreamingError
      ? error
      : new StreamingError(`cannot connect to proxy ${proxy.host}: ${messageOf(error)}`, {cause: error});
  }
}

async function connectTls(
  socket: Socket,
  address: StreamingAddress,
  settings: ConnectionOptions,
  {signal, tls: options}: DialOptions,
): Promise<Socket> {
  try {
    const tls = await import('node:tls');
    return await untilEvent(tls.connect({...settings, socket}), 'secureConnect', signal);
  } catch (error) {
    socket.destroy();
    const {message, hint = "set --tls-ca to the server's CA and --tls-server-name to its name"} =
      describeTlsFailure(error, options);
    throw new StreamingError(`TLS handshake with ${joinHostPort(address)} failed: ${message}`, {
      cause: error,
      hint,
    });
  }
}

/** Contents of the TLS files. */
interface TlsFiles {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/** Reads the files that the TLS options name. Rejects with StreamingError for one that cannot be read. */
export async function readTlsFiles({ca, cert, key}: TlsOptions): Promise<TlsFiles> {
  return {
    ...(ca !== undefined && {ca: await readPem(ca)}),
    ...(cert !== undefined && {cert: await readPem(cert)}),
    ...(key !== undefined && {key: await readPem(key)}),
  };
}

function tlsSettings(host: string, tls: TlsOptions, files: TlsFiles): ConnectionOptions {
  const name = tls.serverName ?? host;
  return {
    host: name,
    // IP addresses are verified too, but must not be sent as SNI.
    ...(isIP(name) === 0 ? {servername: name} : {}),
    rejectUnauthorized: tls.insecure !== true,
    ...files,
  };
}

async function readPem(path: string): Promise<Buffer> {
  try {
    return await readBoundedFile(path);
  } catch (error) {
    throw new StreamingError(`cannot read "${path}": ${systemErrorMessage(error)}`, {cause: error});
  }
}

/** Returns the HTTP proxy for an address (findProxyVariable). Throws StreamingError for an unsupported proxy. */
export function proxyFromEnvironment(
  address: StreamingAddress,
  env: Readonly<Record<string, string | undefined>>,
): URL | undefined {
  const variable = findProxyVariable(address, env);
  if (variable !== undefined && variable.url?.protocol !== 'http:')
    throw new StreamingError(`${variable.name} must be an HTTP proxy URL`, {
      hint: `use http://HOST:PORT, or add ${address.host} to NO_PROXY`,
    });
  return variable?.url;
}
