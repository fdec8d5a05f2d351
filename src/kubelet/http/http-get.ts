import {once} from 'node:events';
import {
  request as requestHttp,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestOptions,
} from 'node:http';
import {request as requestHttps} from 'node:https';
import {isIP} from 'node:net';
import {hasErrno, messageOf} from '../../base/errors.js';
import {goQuote} from '../../format/go-quote.js';
import {hostPort, urlOf, withoutHeader, type HttpRequest} from './http-request.js';

/** No more of an answer is read. */
const MAX_BODY_BYTES = 10 * 1024;
const MAX_REDIRECTS = 10;
const REDIRECTS: ReadonlySet<number | undefined> = new Set([301, 302, 303, 307, 308]);
/** What OpenSSL says of an answer that isn't TLS. */
const NOT_TLS = /wrong version number|packet length too long|http request/i;

/** A GET that brought no answer; the message is Go's, as the kubelet shows it. */
export class HttpGetError extends Error {
  /** The server doesn't speak TLS, which it was asked in. */
  readonly answeredInHttp: boolean;

  constructor(request: HttpRequest, cause: unknown) {
    const answeredInHttp = request.scheme === 'https' && NOT_TLS.test(messageOf(cause));
    const problem = answeredInHttp
      ? 'http: server gave HTTP response to HTTPS client'
      : problemOf(request, cause);
    super(`Get ${goQuote(urlOf(request))}: ${problem}`, {cause});
    this.answeredInHttp = answeredInHttp;
  }
}

/** What a server has answered. */
export interface HttpAnswer {
  readonly statusCode: number;
  /** The first 10 KiB at most. */
  readonly body: string;
  /** Why there is no more of the body than that, when it broke off. */
  readonly bodyError?: unknown;
}

/**
 * Sends a GET and waits for the answer, any answer: certificates are not verified, no proxy is asked, redirects are
 * followed on the same host only, at most 10 KiB are read, and nothing of an announced longer body that nobody wants.
 * There is no time limit. Rejects with HttpGetError, or, unless it aborts in a wanted body, with the signal's reason.
 */
export async function httpGet(
  first: HttpRequest,
  {signal, wantsBody}: {readonly signal: AbortSignal; readonly wantsBody: boolean},
): Promise<HttpAnswer> {
  let request = first;
  for (let redirects = 0; ; redirects++) {
    const {next, answer} = await attempt(request, wantsBody, signal);
    if (next?.host !== first.host) return answer;
    if (redirects + 1 >= MAX_REDIRECTS) throw new HttpGetError(next, 'stopped after 10 redirects');
    request = next;
  }
}

/** An answer, and the request that it is a redirection to. */
interface Attempt {
  readonly answer: HttpAnswer;
  readonly next: HttpRequest | undefined;
}

async function attempt(request: HttpRequest, wantsBody: boolean, signal: AbortSignal): Promise<Attempt> {
  try {
    const response = await send(request, signal);
    const {statusCode = 0} = response;
    const answer = {statusCode, ...(await readBody(response, wantsBody))};
    // A body that is wanted tells itself that it broke off.
    if (!wantsBody) signal.throwIfAborted();
    const {location} = response.headers;
    const isRedirect = REDIRECTS.has(statusCode) && location !== undefined;
    return {answer, next: isRedirect ? redirected(request, location) : undefined};
  } catch (cause) {
    signal.throwIfAborted();
    throw new HttpGetError(request, cause);
  }
}

async function send(request: HttpRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const {scheme, host, port, target, headers} = request;
  const options: RequestOptions = {
    host,
    port,
    path: target,
    headers: nodeHeaders(headers),
    agent: false,
    signal,
  };
  const outgoing =
    scheme === 'http'
      ? requestHttp(options)
      : requestHttps({...options, rejectUnauthorized: false, servername: isIP(host) === 0 ? host : ''});
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  // What goes wrong from now on is no concern: there was an answer.
  outgoing.on('error', () => undefined);
  return response;
}

/** Headers as Node.js takes them: a list only where there are several of a name. */
function nodeHeaders(headers: HttpRequest['headers']): OutgoingHttpHeaders {
  const all = Object.entries(headers).map(([name, values]) => [
    name,
    values.length > 1 ? [...values] : values[0],
  ]);
  return Object.fromEntries(all) as OutgoingHttpHeaders;
}

/** What is read of an answer; one that breaks off is an answer all the same. */
async function readBody(
  response: IncomingMessage,
  isWanted: boolean,
): Promise<Pick<HttpAnswer, 'body' | 'bodyError'>> {
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

/** Throws what URL throws for a place that can't be parsed. */
function redirected(request: HttpRequest, location: string): HttpRequest {
  const url = new URL(location, urlOf(request));
  const scheme = url.protocol.slice(0, -1);
  if (scheme !== 'http' && scheme !== 'https')
    throw new Error(`unsupported protocol scheme ${goQuote(scheme)}`);
  const isRelative = !URL.canParse(location);
  return {
    scheme,
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (scheme === 'http' ? 80 : 443) : Number(url.port),
    target: `${url.pathname}${url.search}`,
    // A host that was named by a header holds for the same server only.
    headers: isRelative ? request.headers : withoutHeader(request.headers, 'host'),
  };
}

/** How Go puts the commonest failures. */
const CONNECT_PROBLEMS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'connection timed out',
};

function problemOf(request: HttpRequest, cause: unknown): string {
  return dialProblem(request, cause) ?? (messageOf(cause) === 'socket hang up' ? 'EOF' : messageOf(cause));
}

/** Why there is no connection, in Go's words; undefined for what is no failure of that kind. */
export function dialProblem(address: Pick<HttpRequest, 'host' | 'port'>, cause: unknown): string | undefined {
  for (const [code, words] of Object.entries(CONNECT_PROBLEMS))
    if (hasErrno(cause, code)) return `dial tcp ${hostPort(address)}: connect: ${words}`;
  return hasErrno(cause, 'ENOTFOUND') ? `dial tcp: lookup ${address.host}: no such host` : undefined;
}
