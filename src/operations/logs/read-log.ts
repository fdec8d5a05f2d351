import {KCRI_LOG_STRATEGY, type LogReadStrategy} from './log-read-strategy.js';
import type {FollowOptions} from './follow/follow-options.js';
import {watchLogDirectories} from './follow/watch-log-directories.js';
import type {LogFormatOptions} from './log-line-formatter.js';
import type {HistoryOptions} from './log-range.js';
import {LogSource} from './log-source.js';
import {BufferedLogWriter, type LogSink} from './buffered-log-writer.js';
import {mergeLogs} from './merge-logs.js';

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
  using changes = follow && (await watchLogDirectories([path], {...follow, files: options.files, signal}));
  const writer = new BufferedLogWriter(sink, limitBytes);
  await mergeLogs([{source, formatter: strategy.createFormatter(writer, options)}], {
    writer,
    notice: () => undefined,
    waitForChange: changes?.next,
    signal,
  });
  return source.unknownLines;
}
