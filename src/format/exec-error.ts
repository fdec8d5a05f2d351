import {messageOf} from '../base/errors.js';
import {CriError} from '../cri/errors.js';
import type {ExecSyncResponse} from '../cri/index.js';
import {formatGoSeconds} from './duration.js';
import {goQuote} from './go-quote.js';

/** Reports whether ExecSync failed because the command exceeded its timeout. */
export function isExecTimeout(error: unknown): boolean {
  return error instanceof CriError && error.grpcCode === 'DEADLINE_EXCEEDED';
}

/** CRI-O's only output of a command that exceeded its timeout, for which it responds with exit code -1. */
const CRIO_TIMED_OUT = 'command timed out';

/**
 * Reports whether a response of ExecSync means that the command exceeded its timeout. CRI-O returns this response in
 * place of an error, so that an exec probe fails (runtime_oci.go ExecSyncContainer).
 */
export function isExecTimeoutResponse({
  exitCode,
  stderr,
}: Pick<ExecSyncResponse, 'exitCode' | 'stderr'>): boolean {
  return exitCode === -1 && Buffer.from(stderr).toString() === CRIO_TIMED_OUT;
}

/** Returns the message for a command that exceeded its timeout (cri-client ErrCommandTimedOut). */
export function execTimeoutMessage(command: readonly string[], timeoutSeconds: number): string {
  return `command timed out: ${goQuote(command.join(' '))} timed out after ${formatGoSeconds(timeoutSeconds)}`;
}

/** Returns the message for a failed ExecSync (cri-client remote_runtime.go ExecSync). */
export function execErrorMessage(error: unknown, command: readonly string[], timeoutSeconds: number): string {
  return isExecTimeout(error) ? execTimeoutMessage(command, timeoutSeconds) : messageOf(error);
}
