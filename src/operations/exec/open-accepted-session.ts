import {openSession} from '../../streaming/open-session.js';
import type {
  RemoteSession,
  SessionOptions,
  SessionRequest,
  Transport,
} from '../../streaming/session/session.js';

/** Options of an exec or attach session. */
export type OpenSessionOptions = SessionOptions & {
  readonly transport: Transport;
  /** Called when the runtime has accepted the request, before the session is opened; may throw. */
  readonly onAccepted?: () => void;
};

/** Opens a session at the streaming URL that `request` returns. Rejects as openSession and `request` do. */
export async function openAcceptedSession(
  request: () => Promise<{readonly url: string}>,
  streams: SessionRequest,
  options: OpenSessionOptions,
): Promise<RemoteSession> {
  const acceptedUrl = async (): Promise<string> => {
    const {url} = await request();
    options.onAccepted?.();
    return url;
  };
  return await openSession(acceptedUrl, streams, options);
}
