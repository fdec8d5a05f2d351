import type {TLSSocket} from 'node:tls';
import type {Attributes} from '@opentelemetry/api';
import type {KubeletTracer} from '../../../kubelet/index.js';

type Request = Pick<Parameters<KubeletTracer['startRequest']>[0], 'raw' | 'socket'>;

/** Attribute of the status of a response. */
export const STATUS_ATTRIBUTE = 'http.response.status_code';

const DEFAULT_PORTS = {http: 80, https: 443} as const;

/** Returns the attributes of a request that a kubelet's server has got (otelrestful). Pure. */
export function serverAttributes({raw, socket}: Request, route: string): Attributes {
  const {method, url = '', headers, httpVersion} = raw;
  const scheme = (socket as Partial<TLSSocket>).encrypted === true ? 'https' : 'http';
  return {
    'server.address': 'kubelet',
    'http.request.method': method,
    'url.scheme': scheme,
    'server.port': portOf(headers.host, scheme),
    'network.peer.address': socket.remoteAddress,
    'network.peer.port': socket.remotePort,
    'user_agent.original': headers['user-agent'],
    'client.address': clientOf({raw, socket}),
    'url.path': decodePath(url.split('?', 1)[0] ?? ''),
    'network.protocol.version': httpVersion,
    'http.route': route,
  };
}

/** Returns the port in a Host header; undefined for that of the scheme. */
function portOf(host = '', scheme: keyof typeof DEFAULT_PORTS): number | undefined {
  const port = /:(\d{1,5})$/.exec(host)?.[1];
  return port === undefined || Number(port) === DEFAULT_PORTS[scheme] ? undefined : Number(port);
}

/** Returns the address of the client, as far as proxies tell it. */
function clientOf({raw, socket}: Request): string | undefined {
  const [forwarded] = [raw.headers['x-forwarded-for']].flat();
  return forwarded?.split(',', 1)[0] ?? socket.remoteAddress;
}

/** Returns the attributes of a request to the API server (otelhttp). Pure. */
export function clientAttributes(method: string, url: URL): Attributes {
  return {
    'http.request.method': method,
    'url.full': url.href,
    'server.address': url.hostname.replace(/^\[(.*)\]$/, '$1'),
    ...(url.port !== '' && {'server.port': Number(url.port)}),
    // That of Go's requests, whatever the connection speaks.
    'network.protocol.version': '1.1',
  };
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
