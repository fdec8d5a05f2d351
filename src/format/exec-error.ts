import {messageOf} from '../base/errors.js';
import {CriError} from '../cri/errors.js';
import {formatGoSeconds} from './duration.js';
import {goQuote} from './go-quote.js';

/** Reports whether ExecSync failed because the command exceeded its timeout. */
export function isExecTimeout(error: unknown): boolean {
  return error instanceof CriError && error.grpcCode === 'DEADLINE_EXCEEDED';
}

/** Returns the message for a command that exceeded its timeout (cri-client ErrCommandTimedOut). */
export function execTimeoutMessage(command: readonly string[], timeoutSeconds: number): string {
  return `command timed out: ${goQuote(command.join(' '))} timed out after ${formatGoSeconds(timeoutSeconds)}`;
}

/** Returns the message for a failed ExecSync (cri-client remote_runtime.go ExecSync). */
export function execErrorMessage(error: unknown, command: readonly string[], timeoutSeconds: number): string {
  return isExecTimeout(error) ? execTimeoutMessage(command, timeoutSeconds) : messageOf(error);
}
