import {KcriError} from '../../base/errors.js';
import type {CliContext} from '../context.js';
import {EXIT} from '../exit-codes.js';
import {renderError} from '../render-error.js';
import {ConflictError, UnknownCommandError} from '../usage-errors.js';
import type {Voice, VoiceOptions} from '../voice.js';
import {logLine, type Level} from './log-line.js';

/** crictl's voice: its log on standard error. All failures of a command are one record at its end. */
export function crictlVoice({write}: VoiceOptions, {clock, stderr}: CliContext): Voice {
  const startMs = clock.now();
  const failures: string[] = [];
  const log = (level: Level, text: string): void => {
    write(logLine(level, text, {nowMs: clock.now(), startMs, terminal: stderr.isTTY === true}));
  };
  return {
    note: (text) => {
      log('info', text);
    },
    warn: (text) => {
      log('warning', text);
    },
    complain: (text) => {
      log('error', text);
    },
    fail: (error) => {
      if (!(error instanceof KcriError)) write(`${renderError(error, true)}\n`);
      else if (isBare(error)) write(`${error.message}\n`);
      else failures.push(inGoWords(error.message));
      return error instanceof UnknownCommandError ? error.exitCode : EXIT.failed;
    },
    end: () => {
      if (failures.length > 0) log('error', failures.splice(0).join('\n'));
    },
  };
}

/** What gRPC itself says of a call that failed, by kcri's library and by crictl's. */
const GRPC_WORDS: readonly (readonly [RegExp, string])[] = [
  [/(code = DeadlineExceeded desc = )Deadline exceeded after .*$/s, '$1context deadline exceeded'],
  [/(code = Unavailable desc = )Connection dropped$/, '$1error reading from server: EOF'],
];

function inGoWords(message: string): string {
  return GRPC_WORDS.reduce((text, [pattern, words]) => text.replace(pattern, words), message);
}

/** What crictl writes past its log. */
function isBare(error: KcriError): boolean {
  return error instanceof UnknownCommandError || error instanceof ConflictError;
}
