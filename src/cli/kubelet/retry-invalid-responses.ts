import type {Clock} from '../../base/clock.js';
import type {FileLogger} from '../../base/logger.js';
import {isInvalidResponse} from '../../cri/errors.js';

/** Pause before another attempt, in ms. */
const RETRY_MS = 5000;

/**
 * Repeats `attempt` while it fails because of an invalid response of the runtime, such as one that is being replaced, and
 * logs each failure. Rejects with any other error of `attempt`, or with the signal's reason.
 */
export async function retryInvalidResponses<T>(
  attempt: () => Promise<T>,
  {clock, signal, logger}: {readonly clock: Clock; readonly signal: AbortSignal; readonly logger: FileLogger},
): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isInvalidResponse(error)) throw error;
      logger.error(error, 'Invalid response of the container runtime, retrying', {
        retryAfter: `${RETRY_MS / 1000}s`,
      });
    }
    await clock.sleep(RETRY_MS, signal);
  }
}
