import type {Clock} from '../../base/clock.js';
import {LogSource, POLL_MS, type FollowOptions} from './log-source.js';
import type {LogManner} from './manner.js';
import type {PenOptions} from './pen.js';
import type {HistoryOptions} from './plan.js';
import {logChanges, mergeLogs, type ReadableLog} from './read-log.js';
import {LogWriter, type LogSink} from './writer.js';

/** What all logs that are read at the same time keep in memory, and what one of them does with it. */
const MEMORY_BYTES = 16 * 1024 * 1024;
const LEAST_PAGE_BYTES = 16 * 1024;
const MOST_PAGE_BYTES = 256 * 1024;

/** A container's log that is shown. */
export interface ShownLog {
  readonly path: string;
  readonly prefix?: string | undefined;
  readonly follow?: FollowOptions | undefined;
}

/** How logs are shown. */
export interface ShowLogsOptions extends HistoryOptions, Omit<PenOptions, 'prefix'> {
  readonly manner: LogManner;
  /** Stop after so many bytes of all. */
  readonly limitBytes?: number | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Told what there is to know between the lines. */
  readonly notice: (text: string) => void;
  /** Told of lines that were left out since they are in no known format. */
  readonly leftOut: (path: string, lines: number) => void;
  /** Told of a log that can't be read; the others are shown. */
  readonly failed: (error: unknown) => void;
}

/** Shows logs, several merged by time. Rejects with the signal's reason, and when a log breaks off. */
export async function showLogs(
  logs: readonly ShownLog[],
  options: ShowLogsOptions,
  sink: LogSink,
): Promise<void> {
  const {signal, notice, leftOut} = options;
  const opened: OpenedLog[] = [];
  try {
    for await (const log of openLogs(logs, options)) opened.push(log);
    const writer = new LogWriter(sink, options.limitBytes);
    const readable = opened.map(({source, prefix}): ReadableLog => {
      return {source, pen: options.manner.pen(writer, {...options, prefix})};
    });
    const followed = opened.filter(({follow}) => follow !== undefined).map(({path}) => path);
    using changes = followed.length === 0 ? undefined : await logChanges(followed, options.clock);
    const changed = async (): Promise<void> => {
      await changes?.next(POLL_MS, signal);
    };
    await mergeLogs(readable, {writer, notice, changed, signal});
    for (const {path, source} of opened) if (source.unknownLines > 0) leftOut(path, source.unknownLines);
  } finally {
    for (const {source} of opened) await source[Symbol.asyncDispose]();
  }
}

interface OpenedLog extends ShownLog {
  readonly source: LogSource;
}

async function* openLogs(logs: readonly ShownLog[], options: ShowLogsOptions): AsyncGenerator<OpenedLog> {
  const {manner, tailLines, failed, signal} = options;
  const pageBytes = Math.min(MOST_PAGE_BYTES, Math.max(LEAST_PAGE_BYTES, MEMORY_BYTES / logs.length));
  for (const log of logs) {
    try {
      const selection = manner.readSelection(options);
      const {path, follow} = log;
      const source = await LogSource.open(path, {...selection, tailLines, manner, follow, pageBytes, signal});
      yield {...log, source};
    } catch (error) {
      signal.throwIfAborted();
      failed(error);
    }
  }
}
