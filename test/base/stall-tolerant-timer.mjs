/** Maximum time between two checks that counts as waiting. A CI machine can stall as a whole, for minutes. */
const LONGEST_TURN_MS = 1000;

/** Returns a function that reports whether `ms` milliseconds of waiting have passed since this call. */
export function stallTolerantTimer(ms) {
  let waited = 0;
  let last = performance.now();
  return () => {
    const now = performance.now();
    waited += Math.min(now - last, LONGEST_TURN_MS);
    last = now;
    return waited > ms;
  };
}
