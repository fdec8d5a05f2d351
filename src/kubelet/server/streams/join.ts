import type {Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import type {Clock} from '../../../base/clock.js';
import {endPatiently} from '../end-patiently.js';

/**
 * How long nothing may pass when a client has ended its side. It may still wait for an answer, or be gone: the two
 * look the same.
 */
const HALF_OPEN_IDLE_MS = 30_000;

/** When a joined connection is given up. */
export interface JoinOptions {
  /** What the client's connection runs over. */
  readonly transport: Socket;
  /** How long nothing may pass; 0 for ever. */
  readonly idleMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Passes bytes on between a client and a runtime's server, both ways, until the server has ended, one of them is lost,
 * nothing has passed for too long, or the signal aborts. Whoever reads slowly holds up the other. A client that has
 * ended its side is still answered. Both are closed then. Never rejects.
 */
export async function join(client: Duplex, backend: Socket, options: JoinOptions): Promise<void> {
  const {transport, idleMs, clock, signal} = options;
  const cut = (): void => {
    client.destroy();
    backend.destroy();
  };
  const ended = Promise.all([client, backend].map(closed));
  for (const connection of [client, backend]) {
    connection.once('error', cut);
    // What is lost ends the other at once; what has ended is passed on.
    connection.once('close', () => {
      if (!connection.readableEnded) cut();
    });
  }
  // Both are idle when one is: what comes in at one goes out at the other.
  transport.once('timeout', cut).setTimeout(idleMs);
  client.once('end', () => {
    transport.setTimeout(idleMs === 0 ? HALF_OPEN_IDLE_MS : Math.min(idleMs, HALF_OPEN_IDLE_MS));
  });
  backend.once('end', () => {
    client.unpipe(backend);
    void endPatiently(client, clock); // never rejects
  });
  if (signal.aborted || client.destroyed || backend.destroyed) cut();
  signal.addEventListener('abort', cut, {once: true});
  client.pipe(backend);
  backend.pipe(client, {end: false});
  await ended;
  signal.removeEventListener('abort', cut);
}

async function closed(connection: Duplex): Promise<void> {
  if (connection.destroyed) return;
  await new Promise<void>((resolve) => {
    connection.once('close', () => {
      resolve();
    });
  });
}
