/** What counts as waiting between two looks: CI's machine may stand still as a whole, for minutes. */
const LONGEST_TURN_MS = 1000;

/** Tells, each time it is asked, whether that long (ms) was waited since it was made. */
export function patience(ms) {
  let waited = 0;
  let last = performance.now();
  return () => {
    const now = performance.now();
    waited += Math.min(now - last, LONGEST_TURN_MS);
    last = now;
    return waited > ms;
  };
}
