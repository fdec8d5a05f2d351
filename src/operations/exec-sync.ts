import type {ContainerId, ExecSyncResponse, RuntimeService} from '../cri/index.js';
import {withContext} from './with-context.js';

/** A command to run in a container; `shown` is what the user called that. */
export interface ExecOptions {
  readonly shown: string;
  readonly command: readonly string[];
  /** The runtime ends the command after so many seconds; 0 = never. */
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

/** Runs a command in a container and gives all its output and its exit code, whatever that is. */
export async function execSync(
  runtime: RuntimeService,
  containerId: ContainerId,
  {shown, command, timeoutSeconds, signal}: ExecOptions,
): Promise<ExecSyncResponse> {
  const request = {containerId, cmd: command, timeout: BigInt(timeoutSeconds)};
  const answer = runtime.execSync(request, {signal});
  return await withContext(`execing command in container "${shown}" synchronously`, answer);
}
