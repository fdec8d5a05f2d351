import {KcriError, UsageError} from '../base/errors.js';
import {EXIT} from './exit-codes.js';

/** A flag is written wrongly: unknown, without its value, or with one that it doesn't take. */
export class FlagError extends UsageError {}

/** There are too few or too many arguments. */
export class ArgumentsError extends UsageError {}

/** Arguments and flags contradict each other. */
export class ConflictError extends UsageError {}

/** No command of that name, in crictl's words. */
export class UnknownCommandError extends KcriError {
  readonly code = 'UNKNOWN_COMMAND';
  override readonly exitCode = EXIT.unknownCommand;

  constructor(name: string, hint?: string) {
    super(`No help topic for '${name}'`, {hint});
  }
}
