import {UpgradeRefusedError} from './errors.js';
import type {DialOptions, RemoteSession, SessionRequest, Transport} from './session.js';
import {openSpdySession} from './spdy/session.js';

/**
 * Opens an exec or attach session. `url` asks the runtime for a streaming URL; it is asked again for each
 * attempt, as a URL serves once. Rejects with StreamingError or UpgradeRefusedError, with what `url` rejects
 * with, or with the signal's reason.
 */
export async function openSession(
  url: () => Promise<string>,
  request: SessionRequest,
  options: DialOptions & {readonly transport: Transport},
): Promise<RemoteSession> {
  if (options.transport !== 'websocket') {
    try {
      return await openSpdySession(await url(), request, options);
    } catch (error) {
      if (options.transport === 'spdy' || !takesNoSpdy(error)) throw error;
    }
  }
  const {openWebSocketSession} = await import('./websocket-session.js');
  return await openWebSocketSession(await url(), request, options);
}

/** True when a server would not have SPDY; a session that is gone (404) is gone for every transport. */
export function takesNoSpdy(error: unknown): boolean {
  return error instanceof UpgradeRefusedError && error.status !== 404;
}
