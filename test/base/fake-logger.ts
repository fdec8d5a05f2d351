import type {Logger} from '../../src/base/logger.js';

/** A log that only these functions hear of. */
export function fakeLogger(heard: Pick<Logger, 'info' | 'error'>): Logger {
  const logger: Logger = {...heard, at: () => logger};
  return logger;
}
