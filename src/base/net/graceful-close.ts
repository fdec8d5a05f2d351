import type {Duplex} from 'node:stream';
import type {Clock} from '../clock.js';

/** Time for the peer to close its side of the connection, in ms. */
const CLOSE_TIMEOUT_MS = 5000;

/**
 * Closes a connection after all pending data is sent (lingering close). Discards incoming data: closing a socket with
 * unread data would reset the connection, and the peer would lose data that it has not received yet. Destroys the
 * connection if the peer does not close it in time. Never rejects.
 */
export async function closeGracefully(connection: Duplex, clock: Clock): Promise<void> {
  const closed = new AbortController();
  connection.once('close', () => {
    closed.abort();
  });
  connection.end();
  connection.resume();
  if (!connection.writableFinished && !connection.destroyed) await flushed(connection);
  if (connection.destroyed) return;
  await clock.sleep(CLOSE_TIMEOUT_MS, closed.signal).catch(() => undefined);
  connection.destroy();
}

async function flushed(connection: Duplex): Promise<void> {
  await new Promise<void>((resolve) => {
    connection.once('finish', resolve).once('close', resolve);
  });
}
