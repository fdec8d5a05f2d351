import type {Socket} from 'node:net';

/**
 * Passes bytes on between two connections, both ways, until both have ended, one is lost, nothing has passed for
 * `idleMs` (0 for ever), or the signal aborts. Whoever reads slowly holds up the other. Both are closed then. Never
 * rejects.
 */
export async function join(a: Socket, b: Socket, idleMs: number, signal: AbortSignal): Promise<void> {
  const cut = (): void => {
    a.destroy();
    b.destroy();
  };
  const ended = Promise.all([a, b].map(closed));
  for (const socket of [a, b]) {
    socket.once('error', cut);
    // What is lost ends the other at once, what has ended is passed on by pipe.
    socket.once('close', (hadError) => {
      if (hadError || !socket.readableEnded) cut();
    });
    socket.setTimeout(0);
  }
  // Both are idle when one is: what comes in at one goes out at the other.
  if (idleMs > 0) a.setTimeout(idleMs, cut);
  if (signal.aborted) cut();
  signal.addEventListener('abort', cut, {once: true});
  a.pipe(b);
  b.pipe(a);
  await ended;
  signal.removeEventListener('abort', cut);
}

async function closed(socket: Socket): Promise<void> {
  if (socket.destroyed) return;
  await new Promise<void>((resolve) => {
    socket.once('close', () => {
      resolve();
    });
  });
}
