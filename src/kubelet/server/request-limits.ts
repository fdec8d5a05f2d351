import type {IncomingMessage, Server, ServerResponse} from 'node:http';
import type {Socket} from 'node:net';
import type {Clock} from '../../base/clock.js';

/** Who takes longer for the head of a connection's first request is not waited for. */
export const HEAD_LIMIT_MS = 20_000;
/** As long may the rest of a request take. */
export const BODY_LIMIT_MS = 60_000;
/** How long a connection without a request is kept, as the kubelet does; the next one's head must have come then. */
export const IDLE_LIMIT_MS = 90_000;

/** What is waited for at a connection. */
interface Waiting {
  /** Requests that are being answered. */
  requests: number;
  end: AbortController;
}

/**
 * Ends connections whose client doesn't send what is waited for, who is told so with `tellLate` where the answer is
 * not on its way; at one that speaks another protocol nothing is waited for any more. Node.js keeps such limits too,
 * and Bun none.
 */
export function keepRequestLimits(server: Server, clock: Clock, tellLate: (socket: Socket) => void): void {
  const connections = new WeakMap<Socket, Waiting>();
  const wait = (socket: Socket, ms: number, act: () => void): void => {
    const waiting = connections.get(socket);
    if (waiting === undefined) return;
    waiting.end.abort();
    waiting.end = new AbortController();
    clock.sleep(ms, waiting.end.signal).then(act, () => undefined);
  };
  const stop = (socket: Socket): void => {
    connections.get(socket)?.end.abort();
    connections.delete(socket);
  };
  server.on('connection', (socket: Socket) => {
    connections.set(socket, {requests: 0, end: new AbortController()});
    wait(socket, HEAD_LIMIT_MS, () => {
      tellLate(socket);
    });
    socket.once('close', () => {
      stop(socket);
    });
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const {socket} = request;
    const waiting = connections.get(socket);
    if (waiting === undefined) return;
    waiting.requests += 1;
    wait(socket, BODY_LIMIT_MS, () => {
      if (!request.complete) socket.destroy();
    });
    response.once('close', () => {
      waiting.requests -= 1;
      if (waiting.requests === 0) wait(socket, IDLE_LIMIT_MS, () => socket.destroy());
    });
  });
  server.on('upgrade', ({socket}: IncomingMessage) => {
    stop(socket);
  });
}
