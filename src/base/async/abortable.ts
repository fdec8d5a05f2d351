import {onAbort} from './abort-callbacks.js';

/** Resolves with the work's result, or rejects with the signal's reason if it aborts first; the work continues then. */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => {
      reject(signal.reason as Error);
    };
  });
  if (signal.aborted) abort();
  const forget = onAbort(signal, abort);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    forget();
  }
}
