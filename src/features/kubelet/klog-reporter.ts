import {KcriError, messageOf, UsageError} from '../../base/errors.js';
import type {LogFields} from '../../base/logger.js';
import {explainDiskError} from '../../base/system-error-message.js';
import type {CliContext} from '../../cli/process/context.js';
import {leveledMessages} from '../../cli/output/leveled-messages.js';
import {exitCodeOf} from '../../cli/output/render-error.js';
import type {Reporter, ReporterOptions} from '../../cli/output/reporter.js';
import {ArgumentsError, FlagError} from '../../cli/parsing/usage-errors.js';
import {formatKlogText, positionIn, type LogRecord} from '../../format/klog.js';

const CALLER = positionIn('klog-reporter.ts');

/**
 * Creates the reporter of a kubelet, which logs messages in klog format until its configuration is read. An error that
 * ends it is the line of component-base's cli.Run, with the hint as a further field.
 */
export function createKlogReporter({write}: ReporterOptions, {clock}: Pick<CliContext, 'clock'>): Reporter {
  const log = (severity: LogRecord['severity'], message: string, error?: unknown, fields: LogFields = {}) => {
    const record = {severity, message, fields, verbosity: 0, caller: CALLER};
    write(formatKlogText({...record, error, time: clock.now(), pid: process.pid}));
  };
  return {
    ...leveledMessages(log),
    fail: (cause) => {
      const error = explainDiskError(cause);
      log('error', 'command failed', failureText(error), detailsOf(error));
      return exitCodeOf(error);
    },
    flush: () => undefined,
  };
}

function failureText(error: unknown): string {
  const isFlagError = error instanceof UsageError && !(error instanceof ArgumentsError);
  return `${isFlagError ? 'failed to parse kubelet flag: ' : ''}${messageOf(error)}`;
}

/** Returns the hint of an error, unless it is one of a kubelet's own, and the stack of a bug. */
export function detailsOf(error: unknown): LogFields {
  if (error instanceof FlagError) return {};
  if (error instanceof KcriError) return error.hint === undefined ? {} : {hint: error.hint};
  return error instanceof Error ? {stack: error.stack} : {};
}
