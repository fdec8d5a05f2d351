import {systemClock} from '../base/clock.js';
import {CriError} from './errors.js';
import type {Transport} from './transport.js';

/** How often, and who is told. */
export interface RetryOptions {
  /** `Infinity` for ever. */
  readonly maxRetries: number;
  /** Told before each wait. */
  readonly onRetry?: ((error: CriError, attempt: number, delayMs: number) => void) | undefined;
}

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 5000;

/**
 * A transport that waits and tries again when nothing answers at the endpoint, as crictl does: after 0.5, 1, 2,
 * 4, 5, 5 … seconds. A request that may have reached the runtime is never sent a second time.
 */
export function retryingTransport(transport: Transport, options: RetryOptions): Transport {
  return {
    unary: async (path, request, sink, call) => {
      for (let attempt = 0; ; attempt += 1) {
        try {
          return await transport.unary(path, request, sink, call);
        } catch (error) {
          await beforeNext(error, attempt, options, call.signal);
        }
      }
    },
    async *stream(path, request, call) {
      for (let attempt = 0; ; attempt += 1) {
        try {
          yield* transport.stream(path, request, call);
          return;
        } catch (error) {
          await beforeNext(error, attempt, options, call.signal);
        }
      }
    },
    close: () => {
      transport.close();
    },
  };
}

/** Waits until the next attempt; throws the error when there is to be none. */
async function beforeNext(
  error: unknown,
  attempt: number,
  {maxRetries, onRetry}: RetryOptions,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (!(error instanceof CriError && error.neverConnected) || attempt >= maxRetries) throw error;
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** attempt, LONGEST_DELAY_MS);
  onRetry?.(error, attempt + 1, delayMs);
  await systemClock.sleep(delayMs, signal);
}
