import {systemClock} from '../base/clock.js';
import {CriError} from './errors.js';
import type {Transport} from './transport.js';

/** Options of retryingTransport. */
export interface RetryOptions {
  /** Maximum number of retries; `Infinity` for no limit. */
  readonly maxRetries: number;
  /** Called before each delay. */
  readonly onRetry?: ((error: CriError, attempt: number, delayMs: number) => void) | undefined;
}

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 5000;

/**
 * Wraps a transport so that it retries when nothing answers at the endpoint, as crictl does: after 0.5, 1, 2, 4, 5, 5
 * … seconds. A request that may have reached the runtime is never sent again.
 */
export function retryingTransport(transport: Transport, options: RetryOptions): Transport {
  return {
    unary: async (path, request, sink, call) => {
      for (let attempt = 0; ; attempt += 1) {
        try {
          return await transport.unary(path, request, sink, call);
        } catch (error) {
          await waitForRetry(error, attempt, options, call.signal);
        }
      }
    },
    async *stream(path, request, call) {
      for (let attempt = 0; ; attempt += 1) {
        try {
          yield* transport.stream(path, request, call);
          return;
        } catch (error) {
          await waitForRetry(error, attempt, options, call.signal);
        }
      }
    },
    close: () => {
      transport.close();
    },
  };
}

/** Waits until the next attempt; rejects with `error` if it must not be retried. */
async function waitForRetry(
  error: unknown,
  attempt: number,
  {maxRetries, onRetry}: RetryOptions,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (!(error instanceof CriError && error.neverConnected) || attempt >= maxRetries) throw error;
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** attempt, MAX_DELAY_MS);
  onRetry?.(error, attempt + 1, delayMs);
  await systemClock.sleep(delayMs, signal);
}
