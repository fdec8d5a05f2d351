import {once} from 'node:events';
import {isIP, type Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import type {ConnectionOptions} from 'node:tls';
import {anySignal} from '../../base/async/any-signal.js';
import {messageOf} from '../../base/errors.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import {createDeadline} from '../../base/async/deadline.js';
import {readBoundedFile} from '../../base/fs/read-bounded-file.js';
import {joinHostPort} from '../../base/net/join-host-port.js';
import {getSocketBinding} from '../../base/net/socket-binding.js';
import type {StreamingAddress} from '../session/streaming-address.js';
import {StreamingError} from '../session/errors.js';
import {exchangeHeads} from './http-exchange.js';
import type {ReusingSocket} from './read-state.js';
import {connectTcp} from './tcp-socket.js';
import {describeTlsFailure} from './tls-errors.js';
import type {DialOptions, TlsOptions} from '../session/session.js';
import {findProxyVariable} from '../../base/net/proxy-variable.js';

/** Connect timeout, in ms. Streaming servers are on this machine or close to it. */
const DIAL_TIMEOUT_MS = 30_000;

/** Target of a direct connection: an address, or a local socket. */
type Target = {readonly host: string; readonly port: number} | {readonly path: string};

/** Opens a direct connection. Rejects with the error of the socket, or with the signal's reason. */
type OpenDirectly<S extends Duplex> = (target: Target, signal: AbortSignal) => Promise<S>;

/**
 * Connects a socket of node:net to a streaming server, through a proxy and TLS if required. Attaches no listeners. Rejects
 * with StreamingError, or with the signal's reason.
 */
export async function connectSocket(address: StreamingAddress, options: DialOptions): Promise<Socket> {
  return await connectWith(openTolerantly, address, options);
}

/** Connects like connectSocket. A direct connection without TLS reuses its read buffers. */
export async function connectReusingSocket(
  address: StreamingAddress,
  options: DialOptions,
): Promise<ReusingSocket | Socket> {
  return await connectWith<ReusingSocket>(openReusing, address, options);
}

async function connectWith<S extends Duplex>(
  open: OpenDirectly<S>,
  address: StreamingAddress,
  options: DialOptions,
): Promise<S | Socket> {
  using limit = createDeadline(
    options.clock,
    DIAL_TIMEOUT_MS,
    () => new StreamingError(`cannot connect to ${joinHostPort(address)}: no response`),
  );
  using either = anySignal(options.signal, limit.signal);
  const {signal} = either;
  try {
    return await dial(address, {...options, signal}, open);
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof StreamingError
      ? error
      : new StreamingError(`cannot connect to ${joinHostPort(address)}: ${messageOf(error)}`, {
          cause: error,
        });
  }
}

async function dial<S extends Duplex>(
  address: StreamingAddress,
  options: DialOptions,
  open: OpenDirectly<S>,
): Promise<S | Socket> {
  const forwarded = await options.forward?.(address);
  const proxy = forwarded === undefined ? proxyFromEnvironment(address, options.env) : undefined;
  // As in client-go, a missing file is an error even without TLS.
  const files = await readTlsFiles(options.tls);
  const {host, port} = address;
  const target = forwarded === undefined ? {host, port} : {path: forwarded};
  const {signal} = options;
  if (!address.secure)
    return await (proxy === undefined ? open(target, signal) : tunnel(address, proxy, signal));
  const socket = await (proxy === undefined
    ? openTolerantly(target, signal)
    : tunnel(address, proxy, signal));
  return await connectTls(socket, address, tlsSettings(host, options.tls, files), options);
}

async function openTolerantly(target: Target, signal: AbortSignal): Promise<Socket> {
  const {WriteTolerantSocket} = await import('./write-tolerant-socket.js');
  return await openSocket(new WriteTolerantSocket(), target, signal);
}

/** Without node:net where possible, which takes longer to load than a session to open. It looks up the names of hosts. */
async function openReusing(target: Target, signal: AbortSignal): Promise<ReusingSocket> {
  const binding = 'host' in target && IP_ADDRESS.test(target.host) ? getSocketBinding() : undefined;
  if (binding !== undefined && 'host' in target) return await connectTcp(binding, target, signal);
  const {BufferReusingSocket} = await import('./buffer-reusing-socket.js');
  return await openSocket(new BufferReusingSocket(), target, signal);
}

/** An IP address, of the hosts in URLs: one that ends with a number is an IPv4 address, or the URL is invalid. */
const IP_ADDRESS = /:|\.\d+$/;

async function openSocket<S extends Socket>(socket: S, target: Target, signal: AbortSignal): Promise<S> {
  socket.connect('path' in target ? target : {...target, noDelay: true});
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
  let socket: Socket | undefined;
  try {
    const host = proxy.hostname.replace(/^\[(.*)\]$/, '$1');
    socket = await openTolerantly({host, port: proxy.port === '' ? 80 : Number(proxy.port)}, signal);
    const {status} = await exchangeHeads(socket, {method: 'CONNECT', target, headers}, signal);
    if (status === 200) return socket;
    throw new StreamingError(`proxy ${proxy.host} refused the connection to ${target}: ${status}`);
  } catch (error) {
    socket?.on('error', () => undefined).destroy();
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
