import {KcriError, UsageError} from '../../base/errors.js';
import {EXIT} from '../process/exit-codes.js';

/** Error for an unknown flag, a flag without its value, or an invalid value. */
export class FlagError extends UsageError {}

/** Error for too few or too many arguments. */
export class ArgumentsError extends UsageError {}

/** Error for arguments and flags that exclude each other. */
export class ConflictError extends UsageError {}

/** Error for an unknown command. */
export class UnknownCommandError extends KcriError {
  readonly code = 'UNKNOWN_COMMAND';
  override readonly exitCode = EXIT.unknownCommand;

  constructor(message: string, hint?: string) {
    super(message, {hint});
  }
}
