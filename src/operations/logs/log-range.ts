import type {LogStream} from '../../cri/index.js';
import type {LogFile, OpenLogOptions} from './log-file.js';
import type {LogSelection} from './log-selection.js';

/** Offsets in a file from which lines of each stream are selected. */
export type StreamStarts = Readonly<Record<LogStream, number>>;

/** Start of a file for both streams. */
export const FROM_START: StreamStarts = {stdout: 0, stderr: 0};

/** A log file and the offsets from which to read it. */
export interface LogRange {
  readonly file: LogFile;
  readonly starts: StreamStarts;
  /** Number of lines in a known format after which to stop. */
  readonly lines?: number | undefined;
}

/** Files and offsets to read for a log. */
export interface LogRanges {
  /** Open files, the oldest first. */
  readonly ranges: readonly LogRange[];
  /** Messages about rotated files that cannot be read. */
  readonly skipped: readonly string[];
}

/** Conditions for the part of a log to read. */
export interface HistoryOptions extends LogSelection, OpenLogOptions {
  /** Maximum number of lines from the end. */
  readonly tailLines?: number | undefined;
  /** True if the log is followed after its end. */
  readonly followed?: boolean | undefined;
}

/** Finds the first selected lines in the files of a log. */
export interface StartFinder {
  /** Returns the offsets from which to read a file. Called for the files of a log from the newest to the oldest. */
  find(file: LogFile): Promise<StreamStarts>;
  /** True if no earlier line is selected. */
  readonly done: boolean;
}

/** Returns the result of `act`, and closes the file if it rejects. */
export async function orClose<T>(file: LogFile, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    await file[Symbol.asyncDispose]();
    throw error;
  }
}
