import type {Container, HTTPGetAction, HTTPHeader} from '../../api/v1.js';
import type {IntOrString} from '../../api/v1-meta.js';
import {goQuote} from '../../format/go-quote.js';

/** A GET as it goes over the wire. */
export interface HttpRequest {
  readonly scheme: 'http' | 'https';
  /** A name or an address, the latter without brackets. */
  readonly host: string;
  readonly port: number;
  /** Path and query, escaped. */
  readonly target: string;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
}

/** The headers of a client where a handler has none of that name. */
type ClientHeaders = Readonly<Record<string, string>>;

/** Of the kubelet 1.36 when it runs hooks. */
export const HOOK_HEADERS: ClientHeaders = {
  'user-agent': 'kube-lifecycle/1.36',
  accept: '*/*',
  'accept-encoding': 'gzip',
};

/** Of the kubelet 1.36 when it probes, which takes nothing compressed. */
export const PROBE_HEADERS = {
  'user-agent': 'kube-probe/1.36',
  accept: '*/*',
} as const satisfies ClientHeaders;

/**
 * The request of a container's httpGet handler (probe/http NewRequestForHTTPGetAction); without a host of its own it
 * goes to `podIp`. Throws Error, in the kubelet's words, when there is no such port.
 */
export function httpRequestOf(
  action: HTTPGetAction,
  container: Container,
  podIp: string,
  byDefault: ClientHeaders,
): HttpRequest {
  return {
    scheme: action.scheme === 'HTTPS' ? 'https' : 'http',
    host: action.host === undefined || action.host === '' ? podIp : action.host,
    port: containerPort(action.port, container),
    target: requestTarget(action.path ?? ''),
    headers: requestHeaders(action.httpHeaders ?? [], byDefault),
  };
}

/** `host:port`, an IPv6 address in brackets (net.JoinHostPort). */
export function hostPort({host, port}: Pick<HttpRequest, 'host' | 'port'>): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The request's address as text. */
export function urlOf(request: HttpRequest): string {
  return `${request.scheme}://${hostPort(request)}${request.target}`;
}

/** The headers but the one of that name. */
export function withoutHeader(headers: HttpRequest['headers'], name: string): HttpRequest['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
}

/** A port by its number, by the name that the container gives it, or by a number in a text (ResolveContainerPort). */
export function containerPort(port: IntOrString, {ports = []}: Container): number {
  const named = ports.find(({name}) => name === port)?.containerPort;
  const number = named ?? Number(port);
  if (!Number.isInteger(number) || port === '')
    throw new Error(`strconv.Atoi: parsing ${goQuote(String(port))}: invalid syntax`);
  if (number < 1 || number > 65_535) throw new Error(`invalid port number: ${number}`);
  return number;
}

/** What Go's net/url escapes; a percent sign in a path is an escape already. */
const UNSAFE_IN_PATH = /[^A-Za-z0-9\-_.~$&+,/:;=@%!'()*[\]]/gu;
const UNSAFE_IN_PLAIN_PATH = /[^A-Za-z0-9\-_.~$&+,/:;=@]/gu;
const UNSAFE_IN_QUERY = /[^\x21-\x7e]/gu;
const BROKEN_ESCAPE = /%(?![0-9a-f]{2})/i;

/** The path and query of an httpGet's path; one that is no URL counts as a path altogether (formatURL). */
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

/** What Go's client writes itself, whatever the handler says. */
const OF_THE_CLIENT: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding', 'trailer']);

/** The handler's headers, those of one name together, and the kubelet's where the handler has none. */
function requestHeaders(headers: readonly HTTPHeader[], byDefault: ClientHeaders): HttpRequest['headers'] {
  const all = new Map<string, string[]>();
  for (const {name, value} of headers) {
    const key = name.toLowerCase();
    if (!OF_THE_CLIENT.has(key)) all.set(key, [...(all.get(key) ?? []), value]);
  }
  for (const [key, value] of Object.entries(byDefault)) if (!all.has(key)) all.set(key, [value]);
  // Only these two can be left out by giving nothing for them.
  for (const key of ['user-agent', 'accept']) if (all.get(key)?.[0] === '') all.delete(key);
  // There is one host.
  const host = all.get('host');
  if (host !== undefined) all.set('host', host.slice(0, 1));
  return Object.fromEntries(all);
}
