import {UsageError} from '../../base/errors.js';
import {escapeControls} from '../../format/escape-controls.js';
import {exitCodeOf, renderError} from './render-error.js';

/** Reports messages to users. Each dialect has its own format: kcri's, or crictl's. */
export interface Reporter {
  /** Prints an informational message. */
  info(text: string): void;
  /** Prints a warning. */
  warn(text: string): void;
  /** Prints an error without changing the exit code. */
  error(text: string): void;
  /** Reports an error that fails the command, immediately or after the remaining work. Returns its exit code. */
  fail(error: unknown): number;
  /** Prints buffered messages at the end of the command. */
  flush(): void;
}

/** Options of a reporter. */
export interface ReporterOptions {
  readonly write: (text: string) => void;
  /** Reports whether to print causes and stacks. */
  readonly isDebug: () => boolean;
  /** Returns the text that follows a usage error, such as the usage line. */
  readonly usage: () => string;
}

/**
 * Returns the reporter of kcri's dialect: one line for an error and one for its hint, printed immediately. Control
 * characters in text from the runtime are escaped.
 */
export function createReporter({write: writeRaw, isDebug, usage}: ReporterOptions): Reporter {
  const write = (text: string): void => {
    writeRaw(escapeControls(text));
  };
  return {
    info: (text) => {
      write(`${text}\n`);
    },
    warn: (text) => {
      write(`kcri: warning: ${text}\n`);
    },
    error: (text) => {
      write(`kcri: ${text}\n`);
    },
    fail: (error) => {
      write(`${renderError(error, isDebug())}\n`);
      if (error instanceof UsageError) write(`${usage()}\n`);
      return exitCodeOf(error);
    },
    flush: () => undefined,
  };
}
