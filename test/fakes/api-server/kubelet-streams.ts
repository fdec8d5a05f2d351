import type {IncomingMessage} from 'node:http';
import {request, type RequestOptions} from 'node:https';
import type {Duplex} from 'node:stream';
import {text} from 'node:stream/consumers';
import {
  acceptsWebSockets,
  kubeletEndpoint,
  nodeNameOf,
  type KubeletClientCertificate,
} from './kubelet-endpoint.js';
import type {ObjectStorage, StoredObject} from './object-storage.js';
import {parseResourcePath} from './resource-path.js';

/** A request to change the protocol, such as that of `kubectl exec`. */
export interface Upgrade {
  readonly incoming: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly storage: ObjectStorage;
}

/** Names of a kubelet's query parameters by those of the API. */
const PARAMETERS: Readonly<Record<string, string>> = {
  stdin: 'input',
  stdout: 'output',
  stderr: 'error',
  tty: 'tty',
  command: 'command',
};

/** Headers of one connection that the proxy decides itself. */
const OWN_HEADERS = new Set(['host', 'authorization', 'content-length']);

/** Returns a function that connects exec, attach and port-forward to the kubelet of the pod's node. */
export function kubeletStreams(certificate: KubeletClientCertificate): (upgrade: Upgrade) => void {
  return (upgrade) => {
    const {incoming, socket, storage} = upgrade;
    // A client or kubelet that goes away closes the other side.
    socket.on('error', () => socket.destroy());
    const {pathname, searchParams} = new URL(incoming.url ?? '', 'http://server');
    const {collection, name = '', subresource = ''} = parseResourcePath(pathname);
    const pod = storage.get(`${collection}/${name}`);
    const endpoint = pod && kubeletEndpoint(storage, nodeNameOf(pod), certificate);
    if (pod === undefined || endpoint === undefined) refuse(socket, 404, `pods "${name}" not found`);
    else if (isWebSocket(incoming) && !acceptsWebSockets(storage, nodeNameOf(pod)))
      // An API server translates them to SPDY; kubectl also sends SPDY itself when it is refused.
      refuse(socket, 400, 'the kubelet does not accept WebSockets');
    else connect(upgrade, {...endpoint, path: kubeletPath(pod, subresource, searchParams)});
  };
}

function kubeletPath(pod: StoredObject, subresource: string, query: URLSearchParams): string {
  const {namespace = '', name} = pod.metadata;
  if (subresource === 'portforward') return `/portForward/${namespace}/${name}`;
  const container = query.get('container') ?? firstContainer(pod);
  const params = [...query].flatMap(([key, value]): [string, string][] => {
    const ofKubelet = PARAMETERS[key];
    return ofKubelet === undefined ? [] : [[ofKubelet, key === 'command' ? value : '1']];
  });
  return `/${subresource}/${namespace}/${name}/${container}?${new URLSearchParams(params).toString()}`;
}

function connect({incoming, socket, head}: Upgrade, options: RequestOptions): void {
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).filter(([header]) => !OWN_HEADERS.has(header)),
  );
  const outgoing = request({...options, method: incoming.method, headers});
  outgoing.on('error', (error) => {
    refuse(socket, 502, error.message);
  });
  outgoing.on('response', (response) => {
    void text(response).then((message) => {
      refuse(socket, response.statusCode ?? 500, message.trim());
    });
  });
  outgoing.on('upgrade', (response, upstream, first) => {
    upstream.on('error', () => socket.destroy());
    socket.on('close', () => upstream.destroy());
    upstream.on('close', () => socket.destroy());
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${headerLines(response)}\r\n`);
    socket.write(first);
    upstream.write(head);
    upstream.pipe(socket).pipe(upstream);
  });
  outgoing.end();
}

function headerLines({rawHeaders}: IncomingMessage): string {
  return rawHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
}

function refuse(socket: Duplex, code: number, message: string): void {
  const body = JSON.stringify({kind: 'Status', apiVersion: 'v1', status: 'Failure', code, message});
  socket.end(
    `HTTP/1.1 ${code} Refused\r\ncontent-type: application/json\r\nconnection: close\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

function isWebSocket({headers}: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

function firstContainer(pod: StoredObject): string {
  const {containers} = pod['spec'] as {readonly containers: readonly {readonly name: string}[]};
  return containers[0]?.name ?? '';
}
