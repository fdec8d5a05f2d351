import type {FileLogger, Logger} from '../../src/base/logger.js';

/** Returns a logger that passes the lines of all files to these functions. */
export function fakeLogger(lines: FileLogger): Logger {
  return {forFile: () => lines};
}
