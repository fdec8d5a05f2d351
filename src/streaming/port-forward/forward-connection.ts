import type {Socket} from 'node:net';
import type {SharedDeadline} from './shared-deadline.js';
import type {RemoteEnd, RemoteFailure} from './tunnel.js';

/** Time to wait for the runtime's result after the end of the data, in ms. Runtimes that half-close send none. */
export const RESULT_TIMEOUT_MS = 100;
/** Time that the local side has to end its direction after the remote end was closed, in ms. */
const LINGER_MS = 2000;

/**
 * Copies bytes between a local connection and a pod's port until both directions have ended or either side is closed.
 * Resolves with the failure at the remote end. Resets the local connection after a failure, so that the client does not
 * take incomplete data for complete.
 */
export async function forwardConnection(
  local: Socket,
  remote: RemoteEnd,
  deadline: SharedDeadline,
): Promise<RemoteFailure | undefined> {
  const {data} = remote;
  if (local.closed) {
    remote.close();
    return undefined;
  }
  const closed = new Promise<undefined>((resolve) => {
    local.once('close', () => {
      resolve(undefined);
    });
  });
  const ended = new Promise<void>((resolve) => {
    data.once('end', resolve).once('close', resolve);
  });
  local.pipe(data);
  // `ended` signals its end.
  void data.pipeTo(local);
  await Promise.race([closed, ended]);
  let failure = local.destroyed ? undefined : await deadline.wait(remote.done);
  if (failure === undefined && !local.destroyed) {
    local.end();
    failure = await Promise.race([closed, remote.done]);
  }
  if (failure !== undefined && !local.destroyed) local.resetAndDestroy();
  local.unpipe(data);
  remote.close();
  linger(local);
  return failure;
}

/** Lets the local side read the sent data, and discards its input. */
function linger(local: Socket): void {
  if (local.destroyed) return;
  local.resume();
  const startTimeout = (): void => {
    local.setTimeout(LINGER_MS, () => local.destroy());
  };
  if (local.writableFinished) startTimeout();
  else local.once('finish', startTimeout);
}
