import type {IncomingHttpHeaders, IncomingMessage} from 'node:http';
import type {Socket} from 'node:net';
import type {WebSocket} from 'ws';

/** Clients send some tens of kilobytes at a time; this is what is taken from one that doesn't behave. */
const MAX_MESSAGE = 16 * 1024 * 1024;

/** Whether a request is for a WebSocket, and the client would speak this subprotocol over it. */
export function offersWebSocket(headers: IncomingHttpHeaders, protocol: string): boolean {
  const offered = headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? [];
  return headers.upgrade?.toLowerCase() === 'websocket' && offered.includes(protocol);
}

/**
 * Takes up a WebSocket in a subprotocol that the client has offered; undefined when its request was none after all, or
 * it has gone.
 */
export async function acceptWebSocket(
  request: IncomingMessage,
  {socket, head}: {readonly socket: Socket; readonly head: Buffer},
  protocol: string,
): Promise<WebSocket | undefined> {
  const {WebSocketServer} = await import('ws');
  if (socket.destroyed) return undefined;
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE,
  });
  // Names with a slash, such as a tunnel's, are none to it.
  delete request.headers['sec-websocket-protocol'];
  server.once('headers', (headers) => headers.push(`Sec-WebSocket-Protocol: ${protocol}`));
  return await new Promise((resolve) => {
    socket.once('close', () => {
      resolve(undefined);
    });
    server.handleUpgrade(request, socket, head, (client) => {
      client.on('error', () => undefined); // 'close' tells
      resolve(client);
    });
  });
}
