/** Names and values of a log line, as in klog's structured logging. */
export type LogFields = Readonly<Record<string, unknown>>;

/** A daemon's log, from which each source file takes a logger of its own. */
export interface Logger {
  /** Returns the logger for lines of this source file, such as `sync-loop.ts`: klog shows where a line comes from. */
  forFile(file: string): FileLogger;
}

/** A log whose lines name a source file. Its methods never throw. */
export interface FileLogger {
  /** Logs a line that is shown at this verbosity (klog's -v) and above; 0 is always shown. */
  info(message: string, fields?: LogFields, verbosity?: number): void;
  /** Logs a failure; `error` is its cause, or undefined. */
  error(error: unknown, message: string, fields?: LogFields): void;
}

/** Drops all lines. */
export const SILENT_LOGGER: Logger = {
  forFile: () => ({info: () => undefined, error: () => undefined}),
};
