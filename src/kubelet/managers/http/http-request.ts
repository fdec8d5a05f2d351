import {SystemError} from '../../../base/errors.js';
import {joinHostPort} from '../../../base/net/join-host-port.js';
import type {Container, HTTPGetAction, HTTPHeader} from '../../../api/types/v1-pod.js';
import type {IntOrString} from '../../../api/types/v1-meta.js';
import {goQuote} from '../../../format/go-quote.js';

/** A GET request. */
export interface HttpRequest {
  readonly scheme: 'http' | 'https';
  /** Host name or IP address without brackets. */
  readonly host: string;
  readonly port: number;
  /** Escaped path and query. */
  readonly target: string;
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  /** Headers that the client adds behind these, by name as written. */
  readonly added: Readonly<Record<string, string>>;
}

/** A client of the kubelet 1.36. */
interface HttpClient {
  readonly userAgent: string;
  /** True if it accepts compressed answers. */
  readonly compresses: boolean;
  /** True if it uses each connection once. */
  readonly closes: boolean;
}

/** Client of lifecycle hooks. */
export const HOOK_CLIENT: HttpClient = {userAgent: 'kube-lifecycle/1.36', compresses: true, closes: false};

/** Client of probes. */
export const PROBE_CLIENT = {
  userAgent: 'kube-probe/1.36',
  compresses: false,
  closes: true,
} as const satisfies HttpClient;

/**
 * Creates the request of an httpGet handler (probe/http NewRequestForHTTPGetAction), to `podIp` unless the handler has
 * a host. Throws Error with the kubelet's message for an invalid port.
 */
export function createHttpGetRequest(
  action: HTTPGetAction,
  container: Container,
  podIp: string,
  client: HttpClient,
): HttpRequest {
  return {
    scheme: action.scheme === 'HTTPS' ? 'https' : 'http',
    host: action.host === undefined || action.host === '' ? podIp : action.host,
    port: resolveContainerPort(action.port, container),
    target: requestTarget(action.path ?? ''),
    ...requestHeaders(action.httpHeaders ?? [], client),
  };
}

/** Returns the URL of a request. */
export function formatRequestUrl(request: HttpRequest): string {
  return `${request.scheme}://${joinHostPort(request)}${request.target}`;
}

/** Returns the headers without the one of that name. */
export function withoutHeader(headers: HttpRequest['headers'], name: string): HttpRequest['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
}

/** Resolves a port given by number, by the name of a container port, or by a numeric string (ResolveContainerPort). */
export function resolveContainerPort(port: IntOrString, {ports = []}: Container): number {
  const named = ports.find(({name}) => name === port)?.containerPort;
  const number = named ?? Number(port);
  if (!Number.isInteger(number) || port === '')
    throw new SystemError(`strconv.Atoi: parsing ${goQuote(String(port))}: invalid syntax`);
  if (number < 1 || number > 65_535) throw new SystemError(`invalid port number: ${number}`);
  return number;
}

/** Characters that Go's net/url escapes; a percent sign in a path starts an existing escape. */
const UNSAFE_IN_PATH = /[^A-Za-z0-9\-_.~$&+,/:;=@%!'()*[\]]/gu;
const UNSAFE_IN_PLAIN_PATH = /[^A-Za-z0-9\-_.~$&+,/:;=@]/gu;
const UNSAFE_IN_QUERY = /[^\x21-\x7e]/gu;
const BROKEN_ESCAPE = /%(?![0-9a-f]{2})/i;

/** Returns the escaped path and query of an httpGet path; an invalid URL is used as a plain path (formatURL). */
function requestTarget(text: string): string {
  const [url = ''] = text.split('#', 1);
  const [path = '', ...query] = url.split('?');
  if (BROKEN_ESCAPE.test(path)) return rooted(escape(text, UNSAFE_IN_PLAIN_PATH));
  const search = query.length === 0 ? '' : `?${escape(query.join('?'), UNSAFE_IN_QUERY)}`;
  return `${rooted(escape(path, UNSAFE_IN_PATH))}${search}`;
}

function rooted(path: string): string {
  return path.startsWith('/') ? path : `/${path}`;
}

function escape(text: string, unsafe: RegExp): string {
  return text.replace(unsafe, (character) =>
    [...Buffer.from(character)]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join(''),
  );
}

/** Headers that Go's client always sets itself. */
const CLIENT_HEADERS: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding', 'trailer']);

/** Merges a handler's headers by name, and adds the kubelet's defaults and what Go's transport adds. */
function requestHeaders(
  headers: readonly HTTPHeader[],
  {userAgent, compresses, closes}: HttpClient,
): Pick<HttpRequest, 'headers' | 'added'> {
  const all = new Map<string, string[]>();
  for (const {name, value} of headers) {
    const key = name.toLowerCase();
    if (!CLIENT_HEADERS.has(key)) all.set(key, [...(all.get(key) ?? []), value]);
  }
  const defaults = {'user-agent': userAgent, accept: '*/*'};
  for (const [key, value] of Object.entries(defaults)) if (!all.has(key)) all.set(key, [value]);
  // An empty value removes only these two headers.
  for (const key of ['user-agent', 'accept']) if (all.get(key)?.[0] === '') all.delete(key);
  // Only the first Host header is used.
  const host = all.get('host');
  if (host !== undefined) all.set('host', host.slice(0, 1));
  return {headers: Object.fromEntries(all), added: addedHeaders(all, {compresses, closes})};
}

/** Returns what Go's transport adds to these headers (http.Transport). */
function addedHeaders(
  headers: ReadonlyMap<string, readonly string[]>,
  {compresses, closes}: Pick<HttpClient, 'compresses' | 'closes'>,
): HttpRequest['added'] {
  // Part of a compressed answer cannot be decompressed.
  const decompresses = compresses && !headers.has('range') && !headers.has('accept-encoding');
  const isClosing = headers.get('connection')?.some((value) => /(^|,)\s*close\s*(,|$)/i.test(value)) ?? false;
  return {
    ...(decompresses && {'Accept-Encoding': 'gzip'}),
    ...(closes && !isClosing && {Connection: 'close'}),
  };
}
