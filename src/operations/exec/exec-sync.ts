import {toInt64} from '../../format/go-integer.js';
import {CriError} from '../../cri/errors.js';
import type {ContainerId, ExecSyncResponse, RuntimeService} from '../../cri/index.js';
import {isExecTimeout} from '../../format/exec-error.js';
import {ExecFailedError, ExecTimeoutError, startFailure} from './exec-errors.js';

/** Options of execSync. */
export interface ExecSyncOptions {
  readonly command: readonly string[];
  /** Seconds after which the runtime kills the command; 0 for no timeout. */
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

/**
 * Runs a command in a container and returns its output and exit code. Rejects with ExecTimeoutError, ExecFailedError
 * if the command could not be started, CriError, or the signal's reason.
 */
export async function execSync(
  runtime: RuntimeService,
  containerId: ContainerId,
  {command, timeoutSeconds, signal}: ExecSyncOptions,
): Promise<ExecSyncResponse> {
  try {
    return await runtime.execSync({containerId, cmd: command, timeout: toInt64(timeoutSeconds)}, {signal});
  } catch (error) {
    if (!(error instanceof CriError)) throw error;
    if (isExecTimeout(error)) throw new ExecTimeoutError(command, timeoutSeconds, {cause: error});
    throw isStartFailure(error.details) ? new ExecFailedError(error.message) : error;
  }
}

/** Reports whether the command was not started, from the error text of containerd, or of CRI-O, which names no cause. */
function isStartFailure(details: string): boolean {
  return details.includes('OCI runtime exec failed') || startFailure(details) !== undefined;
}
