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

/** Length of a step of startStallTolerantTimer, in ms. */
const STEP_MS = 1000;

/**
 * Calls `act` like startTimer, after steps of a second: if the process or the machine stalls, only one step passes, and what
 * the peer sent meanwhile is read before the next. For limits on peers.
 */
export function startStallTolerantTimer(ms: number, act: () => void): () => void {
  const stepMs = Math.min(ms, STEP_MS);
  let cancel = startTimer(stepMs, () => {
    if (ms <= STEP_MS) act();
    else cancel = startStallTolerantTimer(ms - stepMs, act);
  });
  return () => {
    cancel();
  };
}
