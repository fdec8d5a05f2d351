import type {Duplex} from 'node:stream';
import type {Clock} from '../../base/clock.js';

/** How long a client may take to end a connection that has been ended here. */
const PATIENCE_MS = 5000;

/**
 * Ends a connection from this side as soon as all that was written is sent. What still comes is dropped: unread, it
 * would cost the client what it has not received yet. Whoever doesn't end the connection too is cut off. Never rejects.
 */
export async function endPatiently(connection: Duplex, clock: Clock): Promise<void> {
  const closed = new AbortController();
  connection.once('close', () => {
    closed.abort();
  });
  connection.end();
  connection.resume();
  if (!connection.writableFinished && !connection.destroyed) await sent(connection);
  if (connection.destroyed) return;
  await clock.sleep(PATIENCE_MS, closed.signal).catch(() => undefined);
  connection.destroy();
}

async function sent(connection: Duplex): Promise<void> {
  await new Promise<void>((resolve) => {
    connection.once('finish', resolve).once('close', resolve);
  });
}
