import type {IncomingHttpHeaders, IncomingMessage} from 'node:http';
import type {Socket} from 'node:net';
import type {WebSocket} from 'ws';
import {nextIteration} from '../base/async/next-iteration.js';

/** Maximum size of a message, in bytes. Well-behaved clients send tens of kilobytes at a time. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** Reports whether a request asks for a WebSocket with this subprotocol. */
export function offersWebSocket(headers: IncomingHttpHeaders, protocol: string): boolean {
  const offered = headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? [];
  return headers.upgrade?.toLowerCase() === 'websocket' && offered.includes(protocol);
}

/**
 * Accepts a WebSocket with a subprotocol that the client offers. Resolves with undefined if the handshake is invalid or
 * the client has disconnected.
 */
export async function acceptWebSocket(
  request: IncomingMessage,
  {socket, head}: {readonly socket: Socket; readonly head: Buffer},
  protocol: string,
): Promise<WebSocket | undefined> {
  const {WebSocketServer} = await import('ws');
  // At the end of the turn in which the gate leaves it, Node.js resumes a socket, even one that the caller has paused.
  await nextIteration();
  if (socket.destroyed) return undefined;
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
  });
  // ws rejects names with a slash, such as that of a tunnel.
  delete request.headers['sec-websocket-protocol'];
  server.once('headers', (headers) => headers.push(`Sec-WebSocket-Protocol: ${protocol}`));
  return await new Promise((resolve) => {
    socket.once('close', () => {
      resolve(undefined);
    });
    server.handleUpgrade(request, socket, head, (client) => {
      client.on('error', () => undefined); // 'close' follows
      resolve(client);
    });
  });
}
