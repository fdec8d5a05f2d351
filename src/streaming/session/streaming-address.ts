import {StreamingError} from './errors.js';

/** Address of a streaming server with the path of the session. */
export interface StreamingAddress {
  readonly secure: boolean;
  /** Host name or IP address, without brackets. */
  readonly host: string;
  readonly port: number;
  /** Path and query. They contain the session token, so they must not be shown. */
  readonly path: string;
}

/** Defaults for parts that runtimes omit; the port is the kubelet's, crictl's default. */
const DEFAULTS = {scheme: 'http:', authority: '127.0.0.1:10250'} as const;

/**
 * Parses the URL of a runtime for exec, attach or port-forward. Scheme and host may be missing (cri-dockerd omits the
 * scheme), and unspecified addresses are replaced by loopback ones. Throws StreamingError for an invalid URL.
 */
export function parseStreamingAddress(text: string): StreamingAddress {
  const url = parse(text);
  if (url === undefined) throw new StreamingError('the runtime returned an invalid streaming URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new StreamingError(
      `the runtime returned a streaming URL with the unsupported protocol "${url.protocol}"`,
    );
  const secure = url.protocol === 'https:';
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  return {secure, host: reachableHost(url.hostname), port, path: url.pathname + url.search};
}

function parse(text: string): URL | undefined {
  const absolute = text.startsWith('//')
    ? DEFAULTS.scheme + text
    : text.startsWith('/')
      ? `${DEFAULTS.scheme}//${DEFAULTS.authority}${text}`
      : text;
  return URL.canParse(absolute) ? new URL(absolute) : undefined;
}

function reachableHost(hostname: string): string {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  if (host === '0.0.0.0') return '127.0.0.1';
  // A server that listens on all IPv6 addresses usually accepts IPv4 too, and the machine may lack IPv6.
  return host === '::' ? 'localhost' : host;
}
