import type {Socket} from 'node:net';
import type {Patience} from './patience.js';
import type {FarEnd, FarFailure} from './tunnel.js';

/** A runtime that is done with a connection says so with the end of the data; one that half-closes doesn't. */
export const VERDICT_LIMIT_MS = 100;
/** How long the local side may take to end its direction once nobody listens to it any more. */
const LINGER_MS = 2000;

/**
 * Carries bytes between a local connection and a pod's port until both directions have ended or either side
 * is gone, and gives what went wrong at the far end. The local connection is reset when something did, so that
 * nobody takes what has come for the whole.
 */
export async function forwardConnection(
  local: Socket,
  far: FarEnd,
  patience: Patience,
): Promise<FarFailure | undefined> {
  const {data} = far;
  if (local.closed) {
    far.close();
    return undefined;
  }
  const gone = new Promise<undefined>((resolve) => {
    local.once('close', () => {
      resolve(undefined);
    });
  });
  const ended = new Promise<void>((resolve) => {
    data.once('end', resolve).once('close', resolve);
  });
  local.pipe(data);
  // Told of by `ended`.
  void data.pour(local);
  await Promise.race([gone, ended]);
  let failure = local.destroyed ? undefined : await patience.wait(far.done);
  if (failure === undefined && !local.destroyed) {
    local.end();
    failure = await Promise.race([gone, far.done]);
  }
  if (failure !== undefined && !local.destroyed) local.resetAndDestroy();
  local.unpipe(data);
  far.close();
  linger(local);
  return failure;
}

/** Lets the local side read what was sent, and drops what it still sends. */
function linger(local: Socket): void {
  if (local.destroyed) return;
  local.resume();
  const giveUp = (): void => {
    local.setTimeout(LINGER_MS, () => local.destroy());
  };
  if (local.writableFinished) giveUp();
  else local.once('finish', giveUp);
}
