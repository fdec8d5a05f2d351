/**
 * Calls `act` once after `ms` (at most 2^31 - 1) and returns a function that cancels the timer. Cheaper than a sleep,
 * for limits on frequent work. The timer does not keep the process alive.
 */
export function startTimer(ms: number, act: () => void): () => void {
  const timeout = setTimeout(act, ms).unref();
  return () => {
    clearTimeout(timeout);
  };
}
