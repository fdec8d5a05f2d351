import {isIP} from 'node:net';
import {StreamingError} from './errors.js';

/** Where a streaming server listens, and the path that names the session. */
export interface StreamingAddress {
  readonly secure: boolean;
  /** A name or an IP address, without brackets. */
  readonly host: string;
  readonly port: number;
  /** Path and query. It holds the session's token, so it is shown to nobody. */
  readonly path: string;
}

/** What runtimes leave out of their URLs; the port is the kubelet's, crictl's default. */
const DEFAULTS = {scheme: 'http:', authority: '127.0.0.1:10250'} as const;

/**
 * The address in a URL that a runtime gave for exec, attach or port-forward. Scheme and host may be missing
 * (cri-dockerd leaves out the first), and an address that stands for all of a machine's is taken for its own.
 * Throws StreamingError for what is no such URL.
 */
export function streamingAddress(text: string): StreamingAddress {
  const url = parse(text);
  if (url === undefined) throw new StreamingError('the runtime gave a streaming URL that is none');
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new StreamingError(`the runtime gave a streaming URL of an unknown kind, "${url.protocol}"`);
  const secure = url.protocol === 'https:';
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  return {secure, host: reachable(url.hostname), port, path: url.pathname + url.search};
}

function parse(text: string): URL | undefined {
  const absolute = text.startsWith('//')
    ? DEFAULTS.scheme + text
    : text.startsWith('/')
      ? `${DEFAULTS.scheme}//${DEFAULTS.authority}${text}`
      : text;
  return URL.canParse(absolute) ? new URL(absolute) : undefined;
}

function reachable(hostname: string): string {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  if (host === '0.0.0.0') return '127.0.0.1';
  // What listens on all addresses of IPv6 mostly does on those of IPv4 too, and a machine may lack the former.
  return host === '::' ? 'localhost' : host;
}

/** True for the machine itself, which no proxy stands before. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}

/** `host:port` as in URLs, for people and Host headers. */
export function authority({host, port}: Pick<StreamingAddress, 'host' | 'port'>): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
