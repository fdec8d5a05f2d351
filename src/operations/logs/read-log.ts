import {dirname} from 'node:path';
import type {Clock} from '../../base/clock.js';
import {ifPresent} from '../../base/fs/files.js';
import {LOCAL_LOG_FILES, type LogFiles, type LogWatcher} from './log-files.js';
import {LogSource, POLL_MS, type FollowOptions} from './log-source.js';
import {KCRI_LOG_STRATEGY, type LogReadStrategy} from './log-read-strategy.js';
import type {LogLineFormatter, LogFormatOptions} from './log-line-formatter.js';
import type {HistoryOptions} from './log-ranges.js';
import {compareTimes} from './log-selection.js';
import {BufferedLogWriter, type LogSink} from './buffered-log-writer.js';

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

/** Options of readLog. */
export interface ReadLogOptions extends HistoryOptions, LogFormatOptions {
  /** Maximum number of bytes to write. */
  readonly limitBytes?: number | undefined;
  readonly follow?: FollowOptions | undefined;
  /** Strategy of reading; kcri's by default. */
  readonly strategy?: LogReadStrategy | undefined;
  readonly signal: AbortSignal;
}

/**
 * Reads a container's log, by default with its rotated files, and writes the selected part to the sink (cri-client
 * logs.go ReadLogs). Memory usage does not depend on the size of the file. Returns the number of lines skipped because
 * of an unknown format. Rejects with SystemError if the file cannot be read, and with the signal's reason.
 */
export async function readLog(path: string, options: ReadLogOptions, sink: LogSink): Promise<number> {
  const {follow, signal, limitBytes, strategy = KCRI_LOG_STRATEGY, tailLines, followed, files} = options;
  await using source = await LogSource.open(path, {
    ...strategy.readSelection(options),
    ...{tailLines, followed, files, strategy, follow, signal},
  });
  using watcher =
    follow === undefined ? undefined : await watchLogDirectories([path], follow.clock, options.files);
  const writer = new BufferedLogWriter(sink, limitBytes);
  await mergeLogs([{source, formatter: strategy.createFormatter(writer, options)}], {
    writer,
    notice: () => undefined,
    waitForChange: async () => {
      await watcher?.next(follow?.pollMs?.() ?? POLL_MS, signal);
    },
    signal,
  });
  return source.unknownLines;
}

/** Watches the directories of logs. */
export async function watchLogDirectories(
  paths: readonly string[],
  clock: Clock,
  files: LogFiles = LOCAL_LOG_FILES,
): Promise<LogWatcher> {
  const directories = new Set<string>();
  for (const path of paths) directories.add(dirname((await ifPresent(() => files.realpath(path))) ?? path));
  return files.watch([...directories], clock);
}
