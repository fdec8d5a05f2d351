import {once} from 'node:events';
import {connect, type Socket} from 'node:net';
import {onTestFinished} from 'vitest';

/** Head of a request without the empty line that ends it. */
export const HEAD = 'GET / HTTP/1.1\r\nHost: x\r\n';

/** Client that sends and receives bytes without regard to HTTP. */
export interface RawClient {
  readonly socket: Socket;
  /** Data that the client has received. */
  received: string;
  isClosed: boolean;
}

/** Connects to a server; the connection is closed when the test finishes. */
export async function connectClient(url: string): Promise<RawClient> {
  const {hostname, port} = new URL(url);
  const socket = connect({port: Number(port), host: hostname, allowHalfOpen: true});
  onTestFinished(() => {
    socket.destroy();
  });
  const client: RawClient = {socket, received: '', isClosed: false};
  socket
    .on('data', (chunk: Buffer) => (client.received += chunk.toString()))
    .on('error', () => undefined)
    .on('close', () => (client.isClosed = true));
  await once(socket, 'connect');
  return client;
}

/** Returns `count` GET requests for a path. */
export function pipelined(count: number, path = '/'): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(count);
}
