import type {BufferedLogWriter} from './buffered-log-writer.js';
import type {LogLineFormatter} from './log-line-formatter.js';
import {compareTimes} from './log-selection.js';
import type {LogSource} from './log-source.js';

/** A log and the formatter of its lines. */
export interface ReadableLog {
  readonly source: LogSource;
  readonly formatter: LogLineFormatter;
}

/** Options of mergeLogs. */
export interface MergeOptions {
  readonly writer: BufferedLogWriter;
  /** Called with messages to show between the lines. */
  readonly notice: (text: string) => void;
  /** Waits for a change in the directories of followed logs. */
  readonly waitForChange?: (() => Promise<void>) | undefined;
  readonly signal: AbortSignal;
}

/**
 * Writes the lines of logs in chronological order until all have ended or the writer is full. Lines of followed logs
 * are written as they arrive. Rejects with the signal's reason and with errors of reading a log.
 */
export async function mergeLogs(logs: readonly ReadableLog[], options: MergeOptions): Promise<void> {
  const {writer, notice, waitForChange, signal} = options;
  while (!writer.full) {
    signal.throwIfAborted();
    for (const {source} of logs) await source.fill();
    const ready = logs.filter(({source}) => source.hasLine);
    if (ready.length === 0) for (const {formatter} of logs) formatter.flushHeld();
    await writer.flush();
    for (const {source} of logs) source.notices.splice(0).forEach(notice);
    if (ready.length > 0) writeBurst(ready, writer);
    else if (logs.every(({source}) => source.ended)) return;
    else if (!(await pollAll(logs))) await waitForChange?.();
  }
  await writer.flush();
}

async function pollAll(logs: readonly ReadableLog[]): Promise<boolean> {
  let changed = false;
  for (const {source} of logs) if (await source.poll()) changed = true;
  return changed;
}

/** Writes the available lines until one of the logs must be read: its next line may be the earliest. */
function writeBurst(logs: readonly ReadableLog[], writer: BufferedLogWriter): void {
  for (;;) {
    const {earliest, next} = firstTwo(logs);
    const {source, formatter} = earliest;
    do {
      if (writer.full) return;
      formatter.add(source.line);
      if (!source.advance()) return;
    } while (next === undefined || compareTimes(source.line, next.source.line) <= 0);
  }
}

function firstTwo([first, ...others]: readonly ReadableLog[]): {
  readonly earliest: ReadableLog;
  readonly next: ReadableLog | undefined;
} {
  if (first === undefined) throw new RangeError('no logs');
  let [earliest, next]: [ReadableLog, ReadableLog | undefined] = [first, undefined];
  for (const log of others) {
    if (compareTimes(log.source.line, earliest.source.line) < 0) [earliest, next] = [log, earliest];
    else if (next === undefined || compareTimes(log.source.line, next.source.line) < 0) next = log;
  }
  return {earliest, next};
}
