import type {ContainerId, RuntimeService} from '../../cri/index.js';
import type {RemoteSession, SessionRequest} from '../../streaming/session/session.js';
import {openAcceptedSession, type OpenSessionOptions} from './open-accepted-session.js';

/**
 * Starts a command in a container and connects to its streams. Rejects with CriError, StreamingError or the signal's
 * reason.
 */
export async function startExecSession(
  runtime: RuntimeService,
  containerId: ContainerId,
  {command: cmd, ...streams}: SessionRequest & {readonly command: readonly string[]},
  options: OpenSessionOptions,
): Promise<RemoteSession> {
  const {signal} = options;
  const request = () => runtime.exec({containerId, cmd, ...streams}, {signal});
  return await openAcceptedSession(request, streams, options);
}
