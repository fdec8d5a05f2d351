import {once} from 'node:events';
import {
  request as requestHttp,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestOptions,
} from 'node:http';
import {request as requestHttps} from 'node:https';
import {isIP, type Socket} from 'node:net';
import {
  hasErrno,
  isSystemCallError,
  messageOf,
  rethrowUnexpected,
  SystemError,
} from '../../../base/errors.js';
import {joinHostPort} from '../../../base/net/join-host-port.js';
import {goQuote} from '../../../format/go-quote.js';
import {formatRequestUrl, withoutHeader, type HttpRequest} from './http-request.js';

/** Maximum number of bytes read from a response. */
const MAX_BODY_BYTES = 10 * 1024;
const MAX_REDIRECTS = 10;
const REDIRECTS: ReadonlySet<number | undefined> = new Set([301, 302, 303, 307, 308]);
/** Go's message for a deadline that passes before the response headers. */
const NO_ANSWER = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
/** OpenSSL's errors for a response that is not TLS. */
const NOT_TLS = /wrong version number|packet length too long|http request/i;

/** GET without a response, with the message of Go's HTTP client that the kubelet shows. */
export class HttpGetError extends SystemError {
  /** The server responded with plain HTTP to an HTTPS request. */
  readonly isHttpResponseError: boolean;

  constructor(request: HttpRequest, cause: unknown) {
    const isHttpResponse = request.scheme === 'https' && NOT_TLS.test(messageOf(cause));
    const problem = isHttpResponse
      ? 'http: server gave HTTP response to HTTPS client'
      : problemOf(request, cause);
    super(`Get ${goQuote(formatRequestUrl(request))}: ${problem}`, {cause});
    this.isHttpResponseError = isHttpResponse;
  }
}

/** Response of a server. */
export interface HttpResponse {
  readonly statusCode: number;
  /** Body, truncated to 10 KiB. */
  readonly body: string;
  /** Error that interrupted the body. */
  readonly bodyError?: unknown;
}

/**
 * Sends a GET and resolves with the response, whatever its status. Certificates are not verified, proxies are not used,
 * redirects are followed on the same host only, and at most 10 KiB are read; a longer body with a Content-Length is not
 * read at all unless wanted. The signal is the timeout. Rejects with HttpGetError; a timeout while a wanted body is read
 * resolves with the response and its `bodyError`.
 */
export async function httpGet(
  first: HttpRequest,
  {signal, wantsBody}: {readonly signal: AbortSignal; readonly wantsBody: boolean},
): Promise<HttpResponse> {
  let request = first;
  for (let redirects = 0; ; redirects++) {
    const {next, response} = await attempt(request, wantsBody, signal);
    if (next?.host !== first.host) return response;
    if (redirects + 1 >= MAX_REDIRECTS) throw new HttpGetError(next, 'stopped after 10 redirects');
    request = next;
  }
}

/** A response, and the request that it redirects to. */
interface Attempt {
  readonly response: HttpResponse;
  readonly next: HttpRequest | undefined;
}

async function attempt(request: HttpRequest, wantsBody: boolean, signal: AbortSignal): Promise<Attempt> {
  try {
    const message = await send(request, signal);
    const {statusCode = 0} = message;
    const response = {statusCode, ...(await readBody(message, wantsBody))};
    // For a wanted body, bodyError reports the timeout.
    if (!wantsBody) signal.throwIfAborted();
    const {location} = message.headers;
    const isRedirect = REDIRECTS.has(statusCode) && location !== undefined;
    return {response, next: isRedirect ? createRedirect(request, location) : undefined};
  } catch (cause) {
    if (!signal.aborted) rethrowUnexpected(cause);
    throw new HttpGetError(request, signal.aborted ? NO_ANSWER : cause);
  }
}

async function send(request: HttpRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const {scheme, host, port, target} = request;
  const options: RequestOptions = {
    host,
    port,
    path: target,
    headers: writtenHeaders(request),
    agent: false,
    signal,
  };
  const outgoing =
    scheme === 'http'
      ? requestHttp(options)
      : requestHttps({...options, rejectUnauthorized: false, servername: isIP(host) === 0 ? host : ''});
  // Otherwise Node.js adds a header of its own.
  if (outgoing.getHeader('connection') === undefined) outgoing.removeHeader('connection');
  let connection = '';
  outgoing.once('socket', (socket) => {
    socket.once('connect', () => {
      // A closed socket has no addresses.
      connection = formatConnection(socket);
    });
  });
  outgoing.end();
  const [response] = (await once(outgoing, 'response').catch((cause: unknown) => {
    if (!wasReset(cause)) throw cause;
    throw new SystemError(`read tcp ${connection}: read: connection reset by peer`, {cause});
  })) as [IncomingMessage];
  // Later errors do not matter, because there was a response.
  outgoing.on('error', () => undefined);
  return response;
}

/** Reports whether the server reset the connection; if it only closed the connection, the error has no system call. */
function wasReset(error: unknown): boolean {
  return hasErrno(error, 'ECONNRESET') && isSystemCallError(error);
}

function formatConnection(socket: Socket): string {
  const local = joinHostPort({host: socket.localAddress ?? '', port: socket.localPort ?? 0});
  const remote = joinHostPort({host: socket.remoteAddress ?? '', port: socket.remotePort ?? 0});
  return `${local}->${remote}`;
}

/** Returns a header's name as Go writes it: each part starts with a capital (CanonicalMIMEHeaderKey). */
function canonicalName(name: string): string {
  return name.toLowerCase().replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}

/**
 * Returns the headers of a request as Go's client writes them: Host, User-Agent, the others by name, and those that the
 * client adds.
 */
function writtenHeaders({host, port, headers, added}: HttpRequest): OutgoingHttpHeaders {
  const {host: [hostHeader = ''] = [], 'user-agent': agent, ...others} = headers;
  const byName = Object.entries(others)
    .map(([name, values]) => [canonicalName(name), values] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const written: Record<string, string[]> = {};
  for (const [name, values] of [...(agent === undefined ? [] : [['User-Agent', agent] as const]), ...byName])
    written[name] = values.map((value) => value.trim());
  for (const [name, value] of Object.entries(added)) written[name] = [...(written[name] ?? []), value];
  return {Host: hostHeader === '' ? joinHostPort({host, port}) : hostHeader, ...written};
}

/** Reads the body of a response. An interrupted body is not an error. */
async function readBody(
  response: IncomingMessage,
  isWanted: boolean,
): Promise<Pick<HttpResponse, 'body' | 'bodyError'>> {
  const isLong = Number(response.headers['content-length'] ?? 0) > MAX_BODY_BYTES;
  const chunks: Buffer[] = [];
  let read = 0;
  const body = (): string => Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES).toString();
  try {
    for await (const chunk of isLong && !isWanted ? [] : response) {
      chunks.push(chunk as Buffer);
      read += (chunk as Buffer).length;
      if (read >= MAX_BODY_BYTES) break;
    }
    return {body: body()};
  } catch (bodyError) {
    return {body: body(), bodyError};
  } finally {
    response.destroy();
  }
}

/** Returns the request that a redirect leads to. Throws the TypeError of URL for an invalid location. */
function createRedirect(request: HttpRequest, location: string): HttpRequest {
  const url = new URL(location, formatRequestUrl(request));
  const scheme = url.protocol.slice(0, -1);
  if (scheme !== 'http' && scheme !== 'https')
    throw new SystemError(`unsupported protocol scheme ${goQuote(scheme)}`);
  const isRelative = !URL.canParse(location);
  return {
    ...request,
    scheme,
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (scheme === 'http' ? 80 : 443) : Number(url.port),
    target: `${url.pathname}${url.search}`,
    // A Host header only applies to the same server.
    headers: isRelative ? request.headers : withoutHeader(request.headers, 'host'),
  };
}

/** Go's messages by error code. */
const CONNECT_PROBLEMS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'connection timed out',
};

function problemOf(request: HttpRequest, cause: unknown): string {
  return (
    dialErrorMessage(request, cause) ?? (messageOf(cause) === 'socket hang up' ? 'EOF' : messageOf(cause))
  );
}

/** Returns the IP address that a failed connection was for; the first one if a host name has several. */
function dialedIp(cause: unknown): string | undefined {
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause;
  const ip = first instanceof Error && 'address' in first ? first.address : undefined;
  return typeof ip === 'string' ? ip : undefined;
}

/** Returns Go's message for a connection failure; undefined for other errors. */
export function dialErrorMessage(
  address: Pick<HttpRequest, 'host' | 'port'>,
  cause: unknown,
): string | undefined {
  for (const [code, message] of Object.entries(CONNECT_PROBLEMS))
    if (hasErrno(cause, code))
      return `dial tcp ${joinHostPort({...address, host: dialedIp(cause) ?? address.host})}: connect: ${message}`;
  return hasErrno(cause, 'ENOTFOUND') ? `dial tcp: lookup ${address.host}: no such host` : undefined;
}
