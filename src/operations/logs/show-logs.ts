import type {Clock} from '../../base/clock.js';
import type {FollowOptions} from './follow/follow-options.js';
import type {LogChanges} from './follow/watch-log-directories.js';
import {LogSource} from './log-source.js';
import type {LogReadStrategy} from './log-read-strategy.js';
import type {LogFormatOptions} from './log-line-formatter.js';
import type {HistoryOptions} from './log-range.js';
import {mergeLogs, type ReadableLog} from './merge-logs.js';
import {BufferedLogWriter, type LogSink} from './buffered-log-writer.js';

/** Total memory of all logs that are read at once, and limits for one of them. */
const MEMORY_BYTES = 16 * 1024 * 1024;
const MIN_PAGE_BYTES = 16 * 1024;
const MAX_PAGE_BYTES = 256 * 1024;

/** A container's log to show. */
export interface ShownLog {
  readonly path: string;
  readonly prefix?: string | undefined;
  readonly follow?: FollowOptions | undefined;
}

/** Options of showLogs. */
export interface ShowLogsOptions extends HistoryOptions, Omit<LogFormatOptions, 'prefix'> {
  readonly strategy: LogReadStrategy;
  /** Maximum number of bytes to write for all logs. */
  readonly limitBytes?: number | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called with messages to show between the lines. */
  readonly onNotice: (text: string) => void;
  /** Called with the number of lines skipped because of an unknown format. */
  readonly onUnknownLines: (path: string, lines: number) => void;
  /** Called for a log that cannot be read; the others are shown. */
  readonly onFailure: (error: unknown) => void;
}

/** Shows logs, several of them merged by time. Rejects with the signal's reason, and if reading a log fails. */
export async function showLogs(
  logs: readonly ShownLog[],
  options: ShowLogsOptions,
  sink: LogSink,
): Promise<void> {
  const {signal, onNotice, onUnknownLines} = options;
  const opened: OpenedLog[] = [];
  try {
    for await (const log of openLogs(logs, options)) opened.push(log);
    const writer = new BufferedLogWriter(sink, options.limitBytes);
    const readable = opened.map(({source, prefix}): ReadableLog => {
      return {source, formatter: options.strategy.createFormatter(writer, {...options, prefix})};
    });
    const followed = opened.filter(({follow}) => follow !== undefined).map(({path}) => path);
    using changes = followed.length === 0 ? undefined : await watch(followed, options);
    await mergeLogs(readable, {writer, notice: onNotice, waitForChange: changes?.next, signal});
    for (const {path, source} of opened)
      if (source.unknownLines > 0) onUnknownLines(path, source.unknownLines);
  } finally {
    for (const {source} of opened) await source[Symbol.asyncDispose]();
  }
}

async function watch(paths: readonly string[], options: ShowLogsOptions): Promise<LogChanges> {
  const {watchLogDirectories} = await import('./follow/watch-log-directories.js');
  return await watchLogDirectories(paths, options);
}

interface OpenedLog extends ShownLog {
  readonly source: LogSource;
}

async function* openLogs(logs: readonly ShownLog[], options: ShowLogsOptions): AsyncGenerator<OpenedLog> {
  const {strategy, tailLines, onFailure, signal, files} = options;
  const pageBytes = Math.min(MAX_PAGE_BYTES, Math.max(MIN_PAGE_BYTES, MEMORY_BYTES / logs.length));
  for (const log of logs) {
    try {
      const selection = strategy.readSelection(options);
      const {path, follow} = log;
      const source = await LogSource.open(path, {
        ...selection,
        tailLines,
        strategy,
        follow,
        pageBytes,
        signal,
        files,
      });
      yield {...log, source};
    } catch (error) {
      signal.throwIfAborted();
      onFailure(error);
    }
  }
}
