import {onAbort} from '../../../base/async/abort-callbacks.js';
import {runInBackground} from '../../../base/async/background-work.js';
import type {Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import type {Clock} from '../../../base/clock.js';
import {closeGracefully} from '../../../base/net/graceful-close.js';

/**
 * Idle timeout in ms after the client has half-closed the connection. The client may still wait for output, or it may
 * be dead; the two cannot be distinguished.
 */
const HALF_OPEN_IDLE_MS = 30_000;

/** Options of {@link pipeDuplex}. */
export interface PipeDuplexOptions {
  /** Socket of the client's connection. */
  readonly transport: Socket;
  /** Idle timeout in ms; 0 for no timeout. */
  readonly idleMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Copies bytes between a client and a runtime's server in both directions, with backpressure, until the server closes
 * its side, a connection fails, the idle timeout expires or the signal aborts; then closes both. A client that has
 * half-closed its connection still receives output. Never rejects.
 */
export async function pipeDuplex(client: Duplex, backend: Socket, options: PipeDuplexOptions): Promise<void> {
  const {transport, idleMs, clock, signal} = options;
  const destroyBoth = (): void => {
    client.destroy();
    backend.destroy();
  };
  const bothClosed = Promise.all([client, backend].map(closed));
  for (const connection of [client, backend]) {
    connection.once('error', destroyBoth);
    // A lost connection destroys the other one immediately; a regular end is forwarded.
    connection.once('close', () => {
      if (!connection.readableEnded) destroyBoth();
    });
  }
  // One timeout is sufficient: data that arrives at one side leaves at the other.
  transport.once('timeout', destroyBoth).setTimeout(idleMs);
  client.once('end', () => {
    transport.setTimeout(idleMs === 0 ? HALF_OPEN_IDLE_MS : Math.min(idleMs, HALF_OPEN_IDLE_MS));
  });
  backend.once('end', () => {
    client.unpipe(backend);
    runInBackground('HTTP server', closeGracefully(client, clock));
  });
  if (signal.aborted || client.destroyed || backend.destroyed) destroyBoth();
  const forget = onAbort(signal, destroyBoth);
  client.pipe(backend);
  backend.pipe(client, {end: false});
  await bothClosed;
  forget();
}

async function closed(connection: Duplex): Promise<void> {
  if (connection.destroyed) return;
  await new Promise<void>((resolve) => {
    connection.once('close', () => {
      resolve();
    });
  });
}
