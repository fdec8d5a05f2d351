import type {Clock} from '../base/clock.js';
import {formatDuration} from '../format/duration.js';
import type {Output} from './output.js';

/** What is waited for, and where that is shown. */
export interface Waiting {
  /** Such as `pulling busybox`. */
  readonly doing: string;
  readonly output: Output;
  readonly clock: Clock;
}

const SECOND_MS = 1000;
/** Back to the beginning of the line, and whatever stands there gone. */
const ERASE = '\r\x1b[K';

/**
 * Waits for work and shows on a terminal, once it has taken a second, for how long; the line is gone at the end.
 * Elsewhere nothing is shown. It is all there is to show of a pull: the CRI tells of no progress.
 */
export async function showingElapsed<T>(work: Promise<T>, waiting: Waiting): Promise<T> {
  if (!waiting.output.isTerminal) return await work;
  const done = new AbortController();
  const shown = showEverySecond(waiting, done.signal);
  try {
    return await work;
  } finally {
    done.abort();
    await shown;
  }
}

async function showEverySecond({doing, output, clock}: Waiting, done: AbortSignal): Promise<void> {
  for (let seconds = 1n; ; seconds += 1n) {
    // Rejects when the work is done.
    const over = await clock.sleep(SECOND_MS, done).then(
      () => false,
      () => true,
    );
    if (over) {
      if (seconds > 1n) output.write(ERASE);
      return;
    }
    output.write(`${ERASE}${doing} … ${formatDuration(seconds * 1_000_000_000n)}`);
  }
}
