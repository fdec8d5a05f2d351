import {pause} from '../../base/async/pause.js';
import type {Clock} from '../../base/clock.js';
import type {FileLogger} from '../../base/logger.js';
import {findCriError, isInvalidResponse, isUnavailable} from '../../cri/errors.js';

/** Pause before another attempt, in ms. */
const RETRY_MS = 5000;

/**
 * Repeats `attempt` while a runtime was reached that seems to be starting or ending: its response is invalid, it loses the
 * connection, or nothing listens any more. Logs each failure. Rejects with any other error of `attempt`, or with the
 * signal's reason; like a kubelet, it does not wait for a runtime that was never reached.
 */
export async function retryStart<T>(
  attempt: () => Promise<T>,
  {clock, signal, logger}: {readonly clock: Clock; readonly signal: AbortSignal; readonly logger: FileLogger},
): Promise<T> {
  for (let wasReached = false; ;) {
    try {
      return await attempt();
    } catch (error) {
      const failed = findCriError(error);
      wasReached ||= failed?.neverConnected === false;
      const lostConnection = wasReached && isUnavailable(failed);
      if (signal.aborted || !(lostConnection || isInvalidResponse(error))) throw error;
      const problem = lostConnection
        ? 'Lost the connection to the container runtime'
        : 'Invalid response of the container runtime';
      logger.error(error, `${problem}, retrying`, {retryAfter: `${RETRY_MS / 1000}s`});
    }
    await pause(clock, RETRY_MS, signal);
  }
}
