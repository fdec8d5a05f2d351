import {cutToWidth, toCells} from '../../format/display-width.js';
import {formatDuration} from '../../format/duration.js';
import type {CliContext} from '../process/context.js';
import type {Output} from './output.js';
import {canMoveCursor, glyphsOf} from './terminal-features.js';

/** Options of the elapsed-time display. */
export interface ElapsedTimeOptions {
  /** Activity, such as `pulling busybox`; a function for one that changes. */
  readonly activity: string | (() => string);
  readonly output: Output;
  readonly context: Pick<CliContext, 'clock' | 'env'>;
}

const SECOND_MS = 1000;
/** Control sequence that clears the current line. */
const ERASE = '\r\x1b[K';

/**
 * Waits for work and, after one second, shows the elapsed time on a terminal; the line is erased at the end. Shows
 * nothing elsewhere, nor on a terminal that cannot erase a line. The CRI reports no progress of a pull.
 */
export async function withElapsedTime<T>(work: Promise<T>, waiting: ElapsedTimeOptions): Promise<T> {
  if (!waiting.output.isTerminal || !canMoveCursor(waiting.context.env)) return await work;
  const done = new AbortController();
  const shown = showEverySecond(waiting, done.signal);
  try {
    return await work;
  } finally {
    done.abort();
    await shown;
  }
}

async function showEverySecond(
  {activity, output, context: {clock, env}}: ElapsedTimeOptions,
  done: AbortSignal,
): Promise<void> {
  const {pending} = glyphsOf(env);
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
    const shown = typeof activity === 'string' ? activity : activity();
    const line = `${shown} ${pending} ${formatDuration(seconds * 1_000_000_000n)}`;
    // Of a line that wraps, only the end could be erased.
    output.write(`${ERASE}${cutToWidth(toCells(line), (output.columns ?? 80) - 1)}`);
  }
}
