import type {Clock} from '../base/clock.js';
import {CriError} from '../cri/index.js';

/** Time to connect to a plugin, in ms. */
const DIAL_TIMEOUT_MS = 10_000;
/** Pause between attempts to connect, in ms. */
const DIAL_PAUSE_MS = 250;

/**
 * Makes the first call on a connection to a plugin, which need not listen yet: until that times out, the call is repeated when
 * nothing was sent. Rejects with the error of the call, or with what `tooLate` returns.
 */
export async function dial<T>(
  call: () => Promise<T>,
  clock: Clock,
  signal: AbortSignal,
  tooLate: (cause: CriError) => Error,
): Promise<T> {
  const startedAt = clock.monotonic();
  for (;;)
    try {
      return await call();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CriError && error.neverConnected)) throw error;
      if (clock.monotonic() - startedAt >= DIAL_TIMEOUT_MS) throw tooLate(error);
      await clock.sleep(DIAL_PAUSE_MS, signal);
    }
}
