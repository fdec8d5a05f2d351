import {KcriError} from '../../base/errors.js';
import {explainDiskError} from '../../base/system-error-message.js';
import type {CliContext} from '../process/context.js';
import {EXIT} from '../process/exit-codes.js';
import {leveledMessages} from '../output/leveled-messages.js';
import {renderError} from '../output/render-error.js';
import {ConflictError, UnknownCommandError} from '../parsing/usage-errors.js';
import type {Reporter, ReporterOptions} from '../output/reporter.js';
import {formatLogrusLine, type LogrusLevel} from './logrus-line.js';

/** Creates crictl's reporter, which logs to standard error. Logs all failures of a command as one record at the end. */
export function createCrictlReporter(
  {write}: ReporterOptions,
  {clock, startedAtMs, stderr}: CliContext,
): Reporter {
  const failures: string[] = [];
  const log = (level: LogrusLevel, text: string): void => {
    write(
      formatLogrusLine(level, text, {
        nowMs: clock.now(),
        startMs: startedAtMs,
        terminal: stderr.isTTY === true,
      }),
    );
  };
  return {
    ...leveledMessages(log),
    fail: (cause) => {
      const error = explainDiskError(cause);
      if (!(error instanceof KcriError)) write(`${renderError(error, true)}\n`);
      else if (isBare(error)) write(`${error.message}\n`);
      else failures.push(inGoWords(error.message));
      return error instanceof UnknownCommandError ? error.exitCode : EXIT.failed;
    },
    flush: () => {
      if (failures.length > 0) log('error', failures.splice(0).join('\n'));
    },
  };
}

/** Patterns of gRPC messages in kcri's library, with crictl's equivalents. */
const GRPC_WORDS: readonly (readonly [RegExp, string])[] = [
  [/(code = DeadlineExceeded desc = )Deadline exceeded after .*$/s, '$1context deadline exceeded'],
  [/(code = Unavailable desc = )Connection dropped$/, '$1error reading from server: EOF'],
];

function inGoWords(message: string): string {
  return GRPC_WORDS.reduce((text, [pattern, words]) => text.replace(pattern, words), message);
}

/** Reports whether crictl prints the error without its log format. */
function isBare(error: KcriError): boolean {
  return error instanceof UnknownCommandError || error instanceof ConflictError;
}
