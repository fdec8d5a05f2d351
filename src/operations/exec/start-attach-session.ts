import type {ContainerId, RuntimeService} from '../../cri/index.js';
import type {RemoteSession, SessionRequest} from '../../streaming/session/session.js';
import {openAcceptedSession, type OpenSessionOptions} from './open-accepted-session.js';

/** Connects to the main process of a container. Rejects as startExecSession does. */
export async function startAttachSession(
  runtime: RuntimeService,
  containerId: ContainerId,
  streams: SessionRequest,
  options: OpenSessionOptions,
): Promise<RemoteSession> {
  const {signal} = options;
  return await openAcceptedSession(
    () => runtime.attach({containerId, ...streams}, {signal}),
    streams,
    options,
  );
}
