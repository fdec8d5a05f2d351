import {onAbort} from './abort-callbacks.js';

/** Resolves when the signal aborts; at once if it already has. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    onAbort(signal, resolve);
  });
}
