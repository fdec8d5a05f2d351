import {UpgradeRefusedError} from './session/errors.js';
import type {RemoteSession, SessionOptions, SessionRequest, Transport} from './session/session.js';
import {openSpdySession} from './spdy/spdy-session.js';

/**
 * Opens an exec or attach session. `url` requests a streaming URL from the runtime. It is called for each attempt,
 * because a URL is valid once. Rejects with StreamingError or UpgradeRefusedError, with the error of `url`, or with the
 * signal's reason.
 */
export async function openSession(
  url: () => Promise<string>,
  request: SessionRequest,
  options: SessionOptions & {readonly transport: Transport},
): Promise<RemoteSession> {
  if (options.transport !== 'websocket') {
    try {
      return await openSpdySession(await url(), request, options);
    } catch (error) {
      if (options.transport === 'spdy' || !isSpdyUnsupported(error)) throw error;
    }
  }
  const {openWebSocketSession} = await import('./websocket/websocket-session.js');
  return await openWebSocketSession(await url(), request, options);
}

/**
 * Reports whether a server does not support SPDY. A session that no longer exists (404) fails with every transport.
 */
export function isSpdyUnsupported(error: unknown): boolean {
  return error instanceof UpgradeRefusedError && error.status !== 404;
}
