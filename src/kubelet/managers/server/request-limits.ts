import type {IncomingMessage, Server, ServerResponse} from 'node:http';
import type {Socket} from 'node:net';
import type {Clock} from '../../../base/clock.js';

/** Time for the head of the first request of a connection, in ms. */
export const HEAD_LIMIT_MS = 20_000;
/** Time for the body of a request, in ms. */
export const BODY_LIMIT_MS = 60_000;
/** Time for the head of the next request on a keep-alive connection, in ms; equals the kubelet's IdleTimeout. */
export const IDLE_LIMIT_MS = 90_000;

/** State of a connection. */
interface ConnectionState {
  /** Number of requests in progress. */
  requests: number;
  /** Controller that aborts the current timer. */
  timer: AbortController;
}

/**
 * Closes connections whose client does not send a request in time. Calls `onHeadTimeout` if the head of the first
 * request is late; destroys the connection otherwise. Upgraded connections have no limits. Node.js has such limits too,
 * but Bun does not.
 */
export function enforceRequestLimits(
  server: Server,
  clock: Clock,
  onHeadTimeout: (socket: Socket) => void,
): void {
  const connections = new WeakMap<Socket, ConnectionState>();
  const startTimer = (socket: Socket, ms: number, onTimeout: () => void): void => {
    const state = connections.get(socket);
    if (state === undefined) return;
    state.timer.abort();
    state.timer = new AbortController();
    clock.sleep(ms, state.timer.signal).then(onTimeout, () => undefined);
  };
  const stop = (socket: Socket): void => {
    connections.get(socket)?.timer.abort();
    connections.delete(socket);
  };
  server.on('connection', (socket: Socket) => {
    connections.set(socket, {requests: 0, timer: new AbortController()});
    startTimer(socket, HEAD_LIMIT_MS, () => {
      onHeadTimeout(socket);
    });
    socket.once('close', () => {
      stop(socket);
    });
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const {socket} = request;
    const state = connections.get(socket);
    if (state === undefined) return;
    state.requests += 1;
    startTimer(socket, BODY_LIMIT_MS, () => {
      if (!request.complete) socket.destroy();
    });
    response.once('close', () => {
      state.requests -= 1;
      if (state.requests === 0) startTimer(socket, IDLE_LIMIT_MS, () => socket.destroy());
    });
  });
  server.on('upgrade', ({socket}: IncomingMessage) => {
    stop(socket);
  });
}
