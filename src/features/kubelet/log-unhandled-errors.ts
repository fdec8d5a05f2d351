import {BackgroundError} from '../../base/async/background-work.js';
import type {Logger} from '../../base/logger.js';

/** Function of a stack's first frame, such as `PodWorkers.update`. */
const FIRST_FRAME = /^\s+at (?:async )?([\w$.#<>]+) /m;

/**
 * Logs errors that no part of the kubelet has handled, until it is disposed. After an unhandled rejection the kubelet goes
 * on, since one failed operation must not end the others. An uncaught exception ends the process as usual.
 */
export function logUnhandledErrors(logger: Logger): Disposable {
  const log = logger.forFile('log-unhandled-errors.ts');
  const onRejection = (reason: unknown): void => {
    log.error(reason, 'Unhandled error, continuing', describeOrigin(reason));
  };
  const onException = (error: unknown): void => {
    log.error(error, 'Uncaught exception, exiting', describeOrigin(error));
  };
  process.on('unhandledRejection', onRejection);
  process.on('uncaughtExceptionMonitor', onException);
  return {
    [Symbol.dispose]: () => {
      process.off('unhandledRejection', onRejection);
      process.off('uncaughtExceptionMonitor', onException);
    },
  };
}

/** Returns the part of the kubelet that an error comes from, and its stack. */
export function describeOrigin(error: unknown): {readonly part: string; readonly stack?: string | undefined} {
  const isOwned = error instanceof BackgroundError;
  const cause = isOwned ? error.cause : error;
  const stack = cause instanceof Error ? cause.stack : undefined;
  return {part: isOwned ? error.part : (FIRST_FRAME.exec(stack ?? '')?.[1] ?? 'unknown'), stack};
}
