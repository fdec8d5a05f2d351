import {readFileSync} from 'node:fs';

/** Maximum time between two checks that counts: a machine can stall as a whole. */
const LONGEST_TURN_MS = 1000;
const NANOS_PER_MS = 1e6;

/** Measures the time in which a process has what it needs to go on. */
export interface RunnableTimer {
  /** Reports whether that time exceeds the limit. Must be called about every 100 ms. */
  hasTimedOut(): boolean;
  /** Returns how long the process has run, and how long it has waited for a processor. */
  describe(): string;
}

/**
 * Starts to measure the time of a process without that in which its first thread waits for a processor: at a low priority on a
 * busy machine, this can be much longer than what it does.
 */
export function runnableTimer(pid: number | undefined, limitMs: number): RunnableTimer {
  const start = readTimes(pid);
  let last = start;
  let lastAt = performance.now();
  let counted = 0;
  return {
    hasTimedOut: () => {
      const now = performance.now();
      const times = readTimes(pid);
      const waited = times.waitedMs - last.waitedMs;
      counted += Math.max(0, Math.min(now - lastAt, LONGEST_TURN_MS) - waited);
      last = times;
      lastAt = now;
      return counted > limitMs;
    },
    describe: () => {
      const {ranMs, waitedMs} = last;
      return `ran for ${seconds(ranMs - start.ranMs)}, waited for a processor for ${seconds(waitedMs - start.waitedMs)}`;
    },
  };
}

/** Reads the times of the first thread of a process (proc_pid_schedstat). They are 0 if the kernel does not measure them. */
function readTimes(pid = 0): {readonly ranMs: number; readonly waitedMs: number} {
  try {
    const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ').map(Number);
    return {ranMs: ran / NANOS_PER_MS, waitedMs: waited / NANOS_PER_MS};
  } catch {
    return {ranMs: 0, waitedMs: 0};
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
