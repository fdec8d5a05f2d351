import {CriError} from '../cri/errors.js';
import type {ContainerId, ExecSyncResponse, RuntimeService} from '../cri/index.js';
import {ExecFailedError, ExecTimeoutError} from './exec-failure.js';

/** A command to run in a container. */
export interface ExecSyncOptions {
  readonly command: readonly string[];
  /** The runtime ends the command after so many seconds; 0 = never. */
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

/**
 * Runs a command in a container and gives all its output and its exit code, whatever that is. Rejects with
 * ExecTimeoutError, ExecFailedError when it could not be started, CriError, or the signal's reason.
 */
export async function execSync(
  runtime: RuntimeService,
  containerId: ContainerId,
  {command, timeoutSeconds, signal}: ExecSyncOptions,
): Promise<ExecSyncResponse> {
  try {
    return await runtime.execSync({containerId, cmd: command, timeout: BigInt(timeoutSeconds)}, {signal});
  } catch (error) {
    if (!(error instanceof CriError)) throw error;
    if (error.grpcCode === 'DEADLINE_EXCEEDED')
      throw new ExecTimeoutError(command, timeoutSeconds, {cause: error});
    throw error.details.includes('OCI runtime exec failed') ? new ExecFailedError(error.message) : error;
  }
}
