import type {ContainerId, RuntimeService} from '../cri/index.js';
import {openSession} from '../streaming/open-session.js';
import type {DialOptions, RemoteSession, SessionRequest, Transport} from '../streaming/session.js';

/** How a session is opened. */
export type OpenOptions = DialOptions & {
  readonly transport: Transport;
  /** Called when the runtime has agreed to the session, before anything is opened; may throw. */
  readonly agreed?: () => void;
};

/** Starts a command in a container. Rejects with CriError, StreamingError or the signal's reason. */
export async function openExec(
  runtime: RuntimeService,
  containerId: ContainerId,
  {command: cmd, ...streams}: SessionRequest & {readonly command: readonly string[]},
  options: OpenOptions,
): Promise<RemoteSession> {
  const {signal} = options;
  return await open(() => runtime.exec({containerId, cmd, ...streams}, {signal}), streams, options);
}

/** Connects to a container's first process. Rejects as openExec does. */
export async function openAttach(
  runtime: RuntimeService,
  containerId: ContainerId,
  streams: SessionRequest,
  options: OpenOptions,
): Promise<RemoteSession> {
  const {signal} = options;
  return await open(() => runtime.attach({containerId, ...streams}, {signal}), streams, options);
}

async function open(
  ask: () => Promise<{readonly url: string}>,
  streams: SessionRequest,
  options: OpenOptions,
): Promise<RemoteSession> {
  const agreedUrl = async (): Promise<string> => {
    const {url} = await ask();
    options.agreed?.();
    return url;
  };
  return await openSession(agreedUrl, streams, options);
}
