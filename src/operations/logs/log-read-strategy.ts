import {isSystemCallError, KcriError, SystemError} from '../../base/errors.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import {JoiningFormatter, type LogLineFormatter, type LogFormatOptions} from './log-line-formatter.js';
import type {HistoryOptions, LogRanges} from './log-range.js';
import {findLogRanges} from './log-ranges.js';
import type {LogSelection} from './log-selection.js';
import {LOCAL_LOG_FILES, type LogFiles} from './log-files.js';
import type {BufferedLogWriter} from './buffered-log-writer.js';

/** The differences between reading logs as kcri does and as crictl does (crictl-log-strategy.ts). */
export interface LogReadStrategy {
  findRanges(path: string, options: HistoryOptions): Promise<LogRanges>;
  /** True if rotated files are read too. */
  readonly readsRotated: boolean;
  /** True if the text after the last newline of a followed log counts as a line when the log ends. */
  readonly finishesFollowed: boolean;
  /** Returns the part of the selection to apply when reading lines; the formatter applies the rest. */
  readSelection(selection: LogSelection): LogSelection;
  createFormatter(writer: BufferedLogWriter, options: LogFormatOptions & LogSelection): LogLineFormatter;
  /** Throws if a log that starts with a line in an unknown format is not readable. */
  refuseLog?(line: Buffer): void;
  /** Returns the error to report for a log that cannot be read. */
  failure(path: string, error: unknown, files?: LogFiles): unknown;
}

/** kcri's strategy: rotated files, joined lines. */
export const KCRI_LOG_STRATEGY: LogReadStrategy = {
  findRanges: findLogRanges,
  readsRotated: true,
  finishesFollowed: true,
  readSelection: (selection) => selection,
  createFormatter: (writer, options) => new JoiningFormatter(writer, options),
  failure: (path, error, files = LOCAL_LOG_FILES) => {
    if (error instanceof KcriError || !isSystemCallError(error)) return error;
    return new SystemError(`cannot read log "${path}": ${systemErrorMessage(error)}`, {
      cause: error,
      hint: files.hint,
    });
  },
};
