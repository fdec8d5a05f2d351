/**
 * Calls `act` once after `ms` (at most 2^31 - 1) on the machine's clock, unless what is returned is called first: for
 * limits to what happens very often, where a sleep costs too much. It does not keep the process alive.
 */
export function startTimer(ms: number, act: () => void): () => void {
  const timeout = setTimeout(act, ms).unref();
  return () => {
    clearTimeout(timeout);
  };
}
